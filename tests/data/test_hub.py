"""Data sets in the hub's form, loaded from a local folder by the same library that loads them from the hub."""

import json

import pytest

from cascada.core.errors import DataError
from cascada.data import Candidate, Group, read

datasets = pytest.importorskip("datasets")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "mine"
    path.mkdir()
    return path


def test_columns_are_found_by_name(folder):
    (folder / "train.csv").write_text("question_id,question,answer,label\nQ1,who?,he,1\nQ1,who?,she,0\n")
    assert list(read(f"hf:{folder}", split="train")) == [Group("who?", (Candidate("he", 1), Candidate("she", 0)), "Q1")]


def test_named_classes_count_by_their_name(folder):
    features = datasets.Features(
        question=datasets.Value("string"),
        sentence=datasets.Value("string"),
        label=datasets.ClassLabel(names=["entailment", "not_entailment"]),
    )
    rows = {"question": ["q", "q", "q"], "sentence": ["a", "b", "c"], "label": [0, 1, -1]}
    datasets.Dataset.from_dict(rows, features=features).to_parquet(folder / "train.parquet")
    (group,) = read(f"hf:{folder}", split="train")
    assert [candidate.label for candidate in group.candidates] == [1, 0, None]


def test_classes_may_be_written_with_capitals(folder):
    features = datasets.Features(
        question=datasets.Value("string"),
        sentence=datasets.Value("string"),
        label=datasets.ClassLabel(names=["Negative", "Positive"]),
    )
    rows = {"question": ["q", "q"], "sentence": ["a", "b"], "label": [0, 1]}
    datasets.Dataset.from_dict(rows, features=features).to_parquet(folder / "train.parquet")
    (group,) = read(f"hf:{folder}", split="train")
    assert [candidate.label for candidate in group.candidates] == [0, 1]


def test_a_missing_split_or_column_is_reported_with_what_there_is(folder):
    (folder / "train.csv").write_text("query,text,relevance\nwho?,he,1\n")
    with pytest.raises(DataError, match=r"needs a split \(--split\); it has train"):
        read(f"hf:{folder}")
    with pytest.raises(DataError, match="has no split 'dev'; it has train"):
        read(f"hf:{folder}", split="dev")
    with pytest.raises(DataError, match="expected a column label, found query, text, relevance"):
        list(read(f"hf:{folder}", split="train"))


def test_a_row_with_a_strange_label_is_named(folder):
    (folder / "train.jsonl").write_text(json.dumps({"question": "q", "text": "t", "label": 3}) + "\n")
    with pytest.raises(DataError, match="split train, row 1: expected label 0 or 1, found 3"):
        list(read(f"hf:{folder}", split="train"))


def test_a_data_set_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(DataError, match=r"hf:.*nowhere cannot be loaded"):
        read(f"hf:{tmp_path}/nowhere", split="train")
