"""What `asker_of` and `retriever_of` assemble: rankers by name, files in memory, and an index in the cache for many."""

import threading

import pytest

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.core.files import cache_folder
from cascada.search import Index, MemoryRetriever, asker_of, assemble, files, retriever_of
from cascada.search.index import update


@pytest.fixture
def plays(tmp_path, monkeypatch):
    monkeypatch.setattr(assemble, "CACHED_FROM", 60)
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


def test_only_changed_files_are_read_for_the_next_question(plays, monkeypatch):
    assert isinstance(retriever_of([plays]), Index)
    files_read = []
    original = update.file_passages
    monkeypatch.setattr(update, "file_passages", lambda path: files_read.append(path.name) or original(path))
    assert texts([plays], "who wrote Faust?")[0] == "Faust is by Goethe."
    assert files_read == []
    (plays / "faust.txt").write_text("Faust was also written by Marlowe, and others.\n")
    (plays / "hamlet.txt").rename(plays.parent / "hamlet.txt")
    (plays / "lear.txt").write_text("Lear is a king of whom Shakespeare wrote.\n")
    assert texts([plays], "who wrote Faust?")[0] == "Faust was also written by Marlowe, and others."
    assert sorted(files_read) == ["faust.txt", "lear.txt"]
    assert texts([plays], "acts") == []


def test_other_paths_have_another_index(plays, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "egmont.txt").write_text("Egmont is by Goethe, who wrote it over twelve years in Frankfurt and Weimar.\n")
    assert len(texts([plays], "Goethe")) == len(texts([other], "Goethe")) == 1
    assert len(texts([plays, other], "Goethe")) == 2


def test_a_damaged_cached_index_is_built_again(plays):
    index = retriever_of([plays])
    (index.folder / "cascada-index.json").write_text("{")
    assert texts([plays], "acts") == ["It has five acts."]


def test_without_a_usable_cache_folder_files_are_held_in_memory(plays, tmp_path, monkeypatch):
    (tmp_path / "occupied").write_text("")
    monkeypatch.setenv("CASCADA_CACHE", str(tmp_path / "occupied"))
    assert isinstance(retriever_of([plays]), MemoryRetriever)
    assert texts([plays], "acts") == ["It has five acts."]


def test_a_path_that_does_not_exist_leaves_no_index_behind(plays):
    with pytest.raises(CascadaError, match="No such file"):
        retriever_of([plays / "nothing"])
    assert not cache_folder().exists()


@pytest.mark.parametrize(
    ("paths", "index", "expected"),
    [
        (["faust.txt"], None, MemoryRetriever),
        (["."], None, Index),
        (["."], "../index", Index),
        ([".", "faust.txt"], None, Index),
    ],
)
def test_folders_are_walked_once(plays, monkeypatch, paths, index, expected):
    monkeypatch.chdir(plays)
    found = []
    original = files._files_under
    monkeypatch.setattr(files, "_files_under", lambda path: found.append(str(path)) or original(path))
    assert isinstance(retriever_of(paths, index=index), expected)
    assert found == paths


def test_files_found_by_relative_paths_are_indexed_by_absolute_ones(plays, monkeypatch):
    monkeypatch.chdir(plays)
    index = retriever_of(["."], index="../index")
    assert sorted(index.files()) == [str(plays / "faust.txt"), str(plays / "hamlet.txt")]
    monkeypatch.chdir(plays.parent)
    assert Index("index").update(["plays"]).unchanged == 2


def test_an_asker_takes_a_ranker_by_name_or_one_that_is_loaded(plays):
    ranker = Ranker.load("bm25")
    assert asker_of([plays], ranker=ranker).ranker is ranker
    asker = asker_of([plays], ranker="bm25+bm25", language="de", scoring="tfidf")
    assert (len(asker.ranker.stages), asker.language, asker.retriever.scoring) == (2, "de", "tfidf")
    assert asker.reader is None


def test_mistakes_in_names_are_found_before_files_are_read(plays, tmp_path):
    def never(files):
        raise AssertionError

    with pytest.raises(CascadaError, match="There is no folder none"):
        asker_of([plays], ranker="none", watch=never)
    with pytest.raises(CascadaError, match="nothing to ask"):
        asker_of()
    with pytest.raises(CascadaError):
        asker_of([plays], ranker="bm25", reader=tmp_path / "none", watch=never)


def test_an_index_that_another_process_is_changing_is_asked_as_it_is(plays, tmp_path, monkeypatch):
    monkeypatch.setattr(assemble, "WAIT", 0.0)
    index = Index(tmp_path / "index", create=True)
    index.update([plays])
    notes = []

    def meanwhile(files):
        asker = asker_of([plays], index=tmp_path / "index", ranker="bm25", note=notes.append)
        assert asker.ask("who wrote Faust?")[0].text == "Faust is by Goethe."
        return files

    index.update([plays], watch=meanwhile)
    assert notes[0].startswith("Another process is changing the index")
    assert notes[0].endswith("It is asked as it is; the files were not looked at.")


def test_an_index_that_another_process_is_filling_is_waited_for(plays, tmp_path, monkeypatch):
    monkeypatch.setattr(assemble, "WAIT", 0.05)
    index = Index(tmp_path / "index", create=True)
    answers = []

    def asking():
        asker = asker_of([plays], index=tmp_path / "index", ranker="bm25")
        answers.append(asker.ask("who wrote Faust?")[0].text)

    second = threading.Thread(target=asking)

    def slowly(files):
        second.start()
        second.join(0.3)
        assert answers == []  # there is nothing to ask yet
        return files

    index.update([plays], watch=slowly)
    second.join(30)
    assert answers == ["Faust is by Goethe."]
