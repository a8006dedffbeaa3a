"""URLs work like paths. fsspec's memory file system stands for an object store."""

import os
from pathlib import Path

import pytest
from hashing import HashingEncoder, texts

from cascada.core.errors import CascadaError, DataError
from cascada.core.files import atomic_write
from cascada.data import Candidate, Group, write_jsonl
from cascada.scale.corpus import Corpus, local_source
from cascada.scale.files import (
    absolute,
    block_url,
    concatenate,
    copy_file,
    destination,
    exists,
    files_of,
    local_copy,
    names_in,
)
from cascada.scale.rank import blocks_of
from cascada.scale.shard import EncodingJob, fill_shard
from cascada.scale.study import waves
from cascada.store import Store


@pytest.fixture(params=["path", "memory"])
def folder_url(request, tmp_path):
    """A folder by path, or in fsspec's memory."""
    import fsspec

    if request.param == "path":
        yield str(tmp_path / "folder")
        return
    memory = fsspec.filesystem("memory")
    yield f"memory://{tmp_path.name}"
    memory.rm(f"/{tmp_path.name}", recursive=True) if memory.exists(f"/{tmp_path.name}") else None


def put(url, text):
    with destination(url) as path, atomic_write(path) as file:
        file.write(text)


def test_a_file_is_written_completely_or_not_at_all(folder_url):
    put(f"{folder_url}/one", "1")

    def half(url):
        with destination(url) as path, atomic_write(path) as file:
            file.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half(f"{folder_url}/two")
    assert names_in(folder_url) == ["one"]
    assert (exists(f"{folder_url}/one"), exists(f"{folder_url}/two")) == (True, False)
    with local_copy(f"{folder_url}/one") as path:
        assert path.read_text() == "1"
    assert names_in(f"{folder_url}/nothing") == []


def test_blocks_are_concatenated_in_order_and_named_by_what_they_depend_on(folder_url):
    blocks = [block_url(f"{folder_url}/out", number, ["model"], "txt") for number in range(3)]
    for number, block in enumerate(blocks):
        put(block, f"{number}\n")
    concatenate(blocks, f"{folder_url}/out")
    with local_copy(f"{folder_url}/out") as path:
        assert path.read_text() == "0\n1\n2\n"
    assert len({block_url("out", 1, [digest], "txt") for digest in ("a", "b", "a")}) == 2


def test_a_shard_is_filled_and_grows(folder_url, tmp_path):
    job = EncodingJob(HashingEncoder)
    assert fill_shard(job, folder_url, texts(50)) == 50
    assert fill_shard(job, folder_url, texts(50)) == 0
    assert fill_shard(job, folder_url, texts(70)) == 20
    names = [name for name in names_in(folder_url) if not name.endswith("-lock")]
    assert names == ["encodings-2.mdb"]
    (tmp_path / "copy").mkdir()
    with local_copy(f"{folder_url}/encodings-2.mdb") as path:
        copy_file(path, str(tmp_path / "copy" / "encodings-2.mdb"))
    assert Store.open(tmp_path / "copy").missing(texts(70)) == []
    with pytest.raises(CascadaError, match="holds int8, not fp16"):
        fill_shard(EncodingJob(HashingEncoder, "fp16"), folder_url, texts(80))


def test_files_are_found_by_folder_and_by_name(folder_url):
    for name in ("a.txt", "b.md", "c.bin", "deep/d.txt"):
        put(f"{folder_url}/{name}", "It rained. It snowed.")
    corpus = Corpus()
    found = corpus.sources([folder_url])
    assert [name.rpartition("/")[2] for name in found] == ["a.txt", "b.md", "d.txt"]
    assert corpus.sources([f"{folder_url}/a.txt", f"{folder_url}/a.txt"]) == found[:1]
    assert list(corpus.texts(found[0])) == ["It rained.", "It snowed."]
    assert list(Corpus("paragraphs").texts(found[0])) == ["It rained. It snowed."]
    with pytest.raises(DataError):
        corpus.sources([f"{folder_url}/nothing.txt"])


def test_files_of_an_object_store_are_found_by_pattern(tmp_path):
    for name in ("2.jsonl", "1.jsonl", "1.txt"):
        put(f"memory://{tmp_path.name}-p/{name}", "{}")
    found = files_of([f"memory://{tmp_path.name}-p/*.jsonl"], lambda path: [path], ())
    assert found == [f"memory:///{tmp_path.name}-p/1.jsonl", f"memory:///{tmp_path.name}-p/2.jsonl"]


def test_a_data_set_is_read_by_path_or_url_and_errors_name_it(folder_url, tmp_path):
    write_jsonl([Group("who?", (Candidate("he"), Candidate("she")))], tmp_path / "groups.jsonl")
    copy_file(tmp_path / "groups.jsonl", f"{folder_url}/groups.jsonl")
    put(f"{folder_url}/bad.jsonl", "no JSON\n")
    corpus = Corpus("candidates")
    good, bad = corpus.sources([f"{folder_url}/groups.jsonl", f"{folder_url}/bad.jsonl"])
    assert list(corpus.texts(good)) == ["he", "she"]
    with pytest.raises(DataError) as caught:
        list(corpus.texts(bad))
    assert str(caught.value).startswith(f"{bad}, line 1: ")
    with local_source("wikiqa") as name:
        assert name == "wikiqa"


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("nowhere://bucket/file", "nowhere://bucket/file cannot be reached: Protocol not known: nowhere"),
        ("memory://no/such/file", "There is no memory://no/such/file."),
    ],
)
def test_a_url_that_cannot_be_reached_is_one_sentence(url, sentence):
    with pytest.raises(CascadaError) as caught, local_copy(url):
        pass
    assert str(caught.value).startswith(sentence)


def test_paths_are_made_absolute_for_workers_in_other_folders(tmp_path, monkeypatch):
    from cascada.scale.models import absolute_name

    monkeypatch.chdir(tmp_path)
    Path("model").mkdir()
    assert absolute("out.trec") == str(tmp_path / "out.trec")
    assert absolute("memory://a/b/") == "memory://a/b"
    assert absolute_name("bm25+model") == f"bm25+{tmp_path / 'model'}"
    assert absolute_name("cosine:model") == f"cosine:{tmp_path / 'model'}"
    assert absolute_name("organisation/name") == "organisation/name"


def test_blocks_are_cut_where_batches_are(monkeypatch):
    from cascada.ranking.inputs import batches_of

    sizes = [700, 5, 0, 1400, 2048, 1, 3000, 40, 0, 2000, 60, 0]
    groups = [Group("who?", (Candidate("he"),) * size, str(place)) for place, size in enumerate(sizes)]
    blocks = list(blocks_of(groups, 1))
    assert [group for block in blocks for group in block.groups] == groups
    assert [block.number for block in blocks] == list(range(len(blocks)))

    def batches(groups):
        asked = [(group.question, group.texts) for group in groups if group.candidates]
        return [len(batch) for batch in batches_of(asked)]

    assert [size for block in blocks for size in batches(block.groups)] == batches(groups)
    assert len(blocks) > 2


def test_a_transfer_that_members_share_is_trained_once_and_first():
    from cascada.training.recipes import parse_recipe
    from cascada.training.study import members

    source = {"source": "data.jsonl"}
    tanda = {
        "kind": "tanda",
        "model": {"encoder": "encoder", "layers": 1},
        "transfer": {"train": source, "output": "shared"},
        "targets": {"wiki": {"train": source, "dev": source}, "trec": {"train": source, "dev": source}},
    }
    study = {
        "kind": "study",
        "output": "out",
        "base": tanda,
        "variants": {"a": {}, "b": {"method": "target"}},
        "seeds": [1, 2],
        "test": {"wiki": source, "trec": source},
    }
    first, second = waves(members(parse_recipe(study, "recipe")))
    assert [os.path.basename(recipe.output) for recipe in first] == ["shared"]
    assert sorted(recipe.output for recipe in second) == [
        f"out/{variant}-seed{seed}/{step}-{target}"
        for variant, step in (("a", "adapt"), ("b", "target"))
        for seed in (1, 2)
        for target in ("trec", "wiki")
    ]
