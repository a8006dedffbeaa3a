"""Large sets of files are asked through an index in the cache, which follows them."""

import pytest

from cascada.core.errors import CascadaError
from cascada.core.files import cache_folder
from cascada.search import Index, MemoryRetriever, retriever_of, sources
from cascada.search.index import update


@pytest.fixture
def plays(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "REMEMBERED", 60)
    monkeypatch.setenv("CASCADA_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "plays"
    folder.mkdir()
    (folder / "hamlet.txt").write_text("Hamlet is by Shakespeare.\n\nIt has five acts.\n")
    (folder / "faust.txt").write_text("Faust is by Goethe.\n\nIt has two parts.\n")
    return folder


def texts(paths, question):
    return [passage.text for passage in retriever_of(paths).retrieve(question, 5)]


def test_a_few_files_stay_in_memory(plays):
    assert isinstance(retriever_of([plays / "faust.txt"]), MemoryRetriever)
    assert not cache_folder().exists()


def test_only_what_changed_is_read_again(plays, monkeypatch):
    assert isinstance(retriever_of([plays]), Index)
    read = []
    real = update.file_passages
    monkeypatch.setattr(update, "file_passages", lambda path: read.append(path.name) or real(path))
    assert texts([plays], "who wrote Faust?")[0] == "Faust is by Goethe."
    assert read == []
    (plays / "faust.txt").write_text("Faust was also written by Marlowe, and others.\n")
    (plays / "hamlet.txt").rename(plays.parent / "hamlet.txt")
    (plays / "lear.txt").write_text("Lear is a king of whom Shakespeare wrote.\n")
    assert texts([plays], "who wrote Faust?")[0] == "Faust was also written by Marlowe, and others."
    assert sorted(read) == ["faust.txt", "lear.txt"]
    assert texts([plays], "acts") == []


def test_other_paths_have_another_index(plays, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "egmont.txt").write_text("Egmont is by Goethe, who wrote it over twelve years in Frankfurt and Weimar.\n")
    assert len(texts([plays], "Goethe")) == len(texts([other], "Goethe")) == 1
    assert len(texts([plays, other], "Goethe")) == 2


def test_a_damaged_index_is_made_again(plays):
    index = retriever_of([plays])
    (index.folder / "cascada-index.json").write_text("{")
    assert texts([plays], "acts") == ["It has five acts."]


def test_without_a_place_to_keep_it_memory_serves(plays, tmp_path, monkeypatch):
    (tmp_path / "occupied").write_text("")
    monkeypatch.setenv("CASCADA_CACHE", str(tmp_path / "occupied"))
    assert isinstance(retriever_of([plays]), MemoryRetriever)
    assert texts([plays], "acts") == ["It has five acts."]


def test_a_mistyped_path_leaves_nothing_behind(plays):
    with pytest.raises(CascadaError, match="No such file"):
        retriever_of([plays / "nothing"])
    assert not cache_folder().exists()
