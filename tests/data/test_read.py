"""The names by which a user may call a data set, and the errors for those that are none."""

import os

import pytest

from cascada.core.errors import CascadaError
from cascada.data import read
from cascada.data.catalog import CATALOG, splits

LINE = "who?\t{}\t1\n"


@pytest.fixture
def wikiqa(tmp_path):
    for split in ("train", "dev", "test"):
        (tmp_path / f"WikiQA-{split}.txt").write_text(LINE.format(f"{split}, tokenised"))
    for split in ("dev", "test"):
        (tmp_path / f"WikiQA-{split}.tsv").write_text(LINE.format(f"{split}, original"))
    return tmp_path


def test_one_data_set_is_never_half_tokenised_and_half_not(wikiqa):
    assert [path.suffix for path in splits("wikiqa", wikiqa).values()] == [".txt", ".txt", ".txt"]
    (wikiqa / "WikiQA-train.tsv").write_text(LINE.format("train, original"))
    assert [path.suffix for path in splits("wikiqa", wikiqa).values()] == [".tsv", ".tsv", ".tsv"]


def test_a_gzipped_file_is_found_under_the_plain_name(tmp_path):
    (tmp_path / "train.tsv.gz").touch()
    assert splits("asnq", tmp_path) == {"train": tmp_path / "train.tsv.gz"}


@pytest.mark.parametrize(
    ("name", "file", "split"),
    [
        ("trecqa", "train-all.jsonl", "train-all"),
        ("trecqa", "TRAIN-ALL.xml", "train-all"),
        ("trecqa", "train2393.cleanup.xml.gz", "train-all"),
        ("trecqa", "dev-less-than-40.manual-edit.xml", "dev"),
        ("selqa", "selqa-ass-test.json", "test"),
        ("squad", "train-v1.1.json", "train"),
        ("qnli", "dev.tsv", "dev"),
        ("gpd", "test.jsonl", "test"),
    ],
)
def test_files_are_known_by_the_names_they_are_distributed_under(tmp_path, name, file, split):
    (tmp_path / file).touch()
    assert splits(name, tmp_path) == {split: tmp_path / file}


def test_a_known_name_is_read_from_its_folder(wikiqa):
    (group,) = read("wikiqa", root=wikiqa, split="dev")
    assert group.texts == ("dev, tokenised",)


def test_a_mode_narrows_what_is_read(wikiqa):
    assert not list(read("wikiqa", root=wikiqa, split="dev", mode="clean"))


def mistake(*args, **options):
    with pytest.raises(CascadaError) as caught:
        read(*args, **options)
    return str(caught.value)


def test_a_missing_root_split_or_file_is_reported_at_once_with_what_there_is(wikiqa, tmp_path_factory):
    assert "needs the folder it is in" in mistake("wikiqa", split="dev")
    assert "needs a split (--split)" in mistake("wikiqa", root=wikiqa)
    assert mistake("wikiqa", root=wikiqa).endswith("has train, dev, test.")
    assert "no split 'validation' of wikiqa; it has train, dev, test" in mistake(
        "wikiqa", root=wikiqa, split="validation"
    )
    assert "has none of the files of selqa: selqa-ass-train.json" in mistake("selqa", root=wikiqa, split="dev")
    assert "does not exist" in mistake("selqa", root=wikiqa / "nowhere", split="dev")
    assert "There is no file " in mistake(wikiqa / "nothing.jsonl")
    assert "There is no file " in mistake(f"squad:{wikiqa}/nothing.json")
    assert "is a folder: give a file in it" in mistake(wikiqa)


def test_an_unknown_name_lists_the_known_ones_and_the_closest():
    message = mistake("wikqa")
    assert "did you mean wikiqa?" in message
    assert all(name in message for name in CATALOG)


def test_an_unknown_mode_lists_the_modes(wikiqa):
    assert mistake("wikiqa", root=wikiqa, split="dev", mode="dirty").endswith("raw, no-all-negative, clean.")


def test_a_file_whose_ending_several_layouts_share_needs_its_layout(wikiqa):
    assert "Name the layout of WikiQA-dev.tsv: NAME:" in mistake(wikiqa / "WikiQA-dev.tsv")


def test_a_pipe_is_rejected_because_data_may_be_read_more_than_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert "is not a regular file: data may be read more than once" in mistake(tmp_path / "pipe.jsonl")
    assert "it cannot be a pipe" in mistake(f"asnq:{tmp_path / 'pipe.jsonl'}")
