"""Test collections in BEIR's and TREC-DL's layouts, and the candidates that a first stage takes from them."""

import gzip
import json
from pathlib import Path

import pytest

from cascada.core.errors import CascadaError, DataError
from cascada.data import load, qrels, read, read_qrels

CORPUS = [
    {"_id": "d1", "title": "Foxes", "text": "The red fox ran over the hill."},
    {"_id": "d2", "title": "", "text": "A red fox is an animal; the fox is red."},
    {"_id": "d3", "title": "Trees", "text": "A green tree."},
    {"_id": "q1", "title": "", "text": "red fox"},
]
QUERIES = [{"_id": "q1", "text": "red fox"}, {"_id": "q2", "text": "green tree"}, {"_id": "q3", "text": "not judged"}]
JUDGED = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td3\t0\nq2\td3\t1\n"


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt") as file:
        file.write("".join(json.dumps(record) + "\n" for record in CORPUS))
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(record) + "\n" for record in QUERIES))
    (tmp_path / "qrels" / "test.tsv").write_text(JUDGED)
    return tmp_path


def ids(groups) -> dict:
    return {group.id: [one.id for one in group.candidates] for group in groups}


def test_bm25_finds_the_candidates_of_judged_questions_and_leaves_the_question_itself_out(beir):
    groups = load("beir", root=beir, split="test", first_stage="bm25")
    assert ids(groups) == {"q1": ["d2", "d1"], "q2": ["d3"]}
    assert groups[0].texts[1] == "Foxes The red fox ran over the hill."
    assert [(one.label, one.relevance) for one in groups[0].candidates] == [(None, None), (1, 2)]


def test_a_run_is_a_first_stage_down_to_the_depth(beir):
    (beir / "first.trec").write_text("q1 Q0 d3 1 9 x\nq1 Q0 d1 2 5 x\nq1 Q0 d2 3 1 x\nq2 Q0 d3 1 1 x\n")
    assert ids(load("beir", root=beir, first_stage="first.trec", depth=2)) == {"q1": ["d3", "d1"], "q2": ["d3"]}


def test_without_a_first_stage_the_candidates_are_the_judged_documents(beir):
    groups = load("beir", root=beir, split="test")
    assert ids(groups) == {"q1": ["d1", "d3"], "q2": ["d3"]}
    assert qrels(groups) == read_qrels(beir / "qrels" / "test.tsv") == {"q1": {"d1": 2, "d3": 0}, "q2": {"d3": 1}}


BAD = {
    "corpus": (
        "corpus.jsonl",
        '{"_id": "d1", "text": "a"}\n{"_id": "d2"}\n',
        r'corpus\.jsonl, line 2: expected "text"',
    ),
    "id": ("corpus.jsonl", '{"text": "a"}\n', r'corpus\.jsonl, line 1: expected an id under "_id"'),
    "twice": (
        "queries.jsonl",
        '{"_id": "q1", "text": "a"}\n' * 2,
        r"queries\.jsonl, line 2: the id q1 occurs a second",
    ),
    "json": ("queries.jsonl", "{\n", r"queries\.jsonl, line 1: expected one JSON object per line"),
    "qrels": ("qrels/test.tsv", JUDGED + "q2\td1\n", r"test\.tsv, line 5: expected query-id corpus-id score, found 2"),
    "relevance": ("qrels/test.tsv", JUDGED + "q2\td1\thigh\n", r"test\.tsv, line 5: expected a whole number"),
}


@pytest.mark.parametrize(("name", "content", "problem"), BAD.values(), ids=BAD)
def test_a_malformed_line_is_named_by_file_and_line(beir, name, content, problem):
    (beir / "corpus.jsonl.gz").unlink()
    (beir / "corpus.jsonl").write_text("".join(json.dumps(record) + "\n" for record in CORPUS))
    (beir / name).write_text(content)
    with pytest.raises(DataError, match=problem):
        load("beir", root=beir, first_stage="bm25")


def test_mistakes_are_sentences(beir):
    with pytest.raises(CascadaError, match=r"has no judgements qrels/dev.tsv; it has test"):
        load("beir", root=beir, split="dev")
    with pytest.raises(CascadaError, match=r"There is no first stage 'splade' .* bm25 or a TREC run file"):
        load("beir", root=beir, first_stage="splade")
    (beir / "other.trec").write_text("q1 Q0 d9 1 9 x\n")
    with pytest.raises(CascadaError, match=r"has no document 'd9', which is listed for question q1"):
        load("beir", root=beir, first_stage="other.trec")
    with pytest.raises(CascadaError, match=r"A first stage belongs to a test collection"):
        list(read("x.jsonl", first_stage="bm25"))


def test_trec_dl_reads_lists_by_the_name_of_their_first_stage(tmp_path):
    lists = {"bm25-top2.jsonl": ["p1", "p2"], "splade-top2.jsonl": ["p2", "p3"]}
    for name, passages in lists.items():
        candidates = [{"id": passage, "text": f"text of {passage}"} for passage in passages]
        (tmp_path / name).write_text(json.dumps({"id": "7", "question": "who?", "candidates": candidates}) + "\n")
    (tmp_path / "2021.qrels.pass.final.txt").write_text("7 0 p1 1\n7 0 p2 3\n")
    (group,) = load("trec_dl", root=tmp_path, first_stage="bm25")
    assert [(one.id, one.relevance, one.label) for one in group.candidates] == [("p1", 1, 0), ("p2", 3, 1)]
    assert ids(load("trec_dl", root=tmp_path, first_stage="splade", depth=1)) == {"7": ["p2"]}
    with pytest.raises(CascadaError, match=r"Say which first stage's candidates .*: bm25 or splade"):
        load("trec_dl", root=tmp_path)


def test_trec_dl_reads_the_tracks_own_files(tmp_path):
    (tmp_path / "2019qrels-pass.txt").write_text("7 Q0 p1 0\n7 Q0 p2 2\n")
    (tmp_path / "msmarco-passagetest2019-top1000.tsv").write_text("7\tp1\twho?\tone\n7\tp2\twho?\ttwo\n9\tp1\tx\tone\n")
    assert ids(load("trec_dl", root=tmp_path)) == {"7": ["p1", "p2"]}
    (tmp_path / "msmarco-passagetest2019-top1000.tsv").unlink()
    (tmp_path / "msmarco-test2019-queries.tsv").write_text("7\twho wrote two?\n")
    (tmp_path / "collection.tsv").write_text("p1\tone\np2\ttwo\n")
    assert ids(load("trec_dl", root=tmp_path, first_stage="bm25")) == {"7": ["p2"]}
    (tmp_path / "collection.tsv").write_text("p1\tone\nbroken\n")
    with pytest.raises(DataError, match=r"collection\.tsv, line 2: expected 2 tab-separated columns"):
        load("trec_dl", root=tmp_path, first_stage="bm25")
