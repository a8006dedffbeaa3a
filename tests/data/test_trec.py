import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascada.core.errors import DataError
from cascada.data import Candidate, Group, identified, qrels, read_qrels, read_run, write_qrels, write_run

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\ufeff")
names = st.text(characters, min_size=1).filter(lambda name: name.split() == [name])
scores = st.floats(allow_nan=False, allow_infinity=False)


def tables(values):
    return st.dictionaries(names, st.dictionaries(names, values, min_size=1), min_size=1)


@given(run=tables(scores))
def test_a_run_comes_back_exactly_with_its_questions_in_order(tmp_path_factory, run):
    path = tmp_path_factory.mktemp("run") / "x.run"
    write_run(run, path)
    assert read_run(path) == run
    assert list(read_run(path)) == list(run)


@given(judged=tables(st.integers(-2, 4)))
def test_qrels_come_back_exactly(tmp_path_factory, judged):
    path = tmp_path_factory.mktemp("qrels") / "x.qrels"
    write_qrels(judged, path)
    assert read_qrels(path) == judged


def test_a_run_is_written_as_trec_tools_read_it(tmp_path):
    write_run({"2": {"a": 0.1, "b": 0.30000000000000004}, "1": {"c": -1}}, tmp_path / "x", tag="mine")
    assert (tmp_path / "x").read_text().splitlines() == [
        "2 Q0 b 1 0.30000000000000004 mine",
        "2 Q0 a 2 0.1 mine",
        "1 Q0 c 1 -1.0 mine",
    ]


@pytest.mark.parametrize("name", ["two words", "", "tab\tbed", "no\xa0break", "line\n"])
def test_an_id_that_trec_files_cannot_hold_is_rejected_and_nothing_is_left_behind(tmp_path, name):
    for write in (
        lambda: write_run({"1": {name: 1.0}}, tmp_path / "x"),
        lambda: write_run({name: {"1": 1.0}}, tmp_path / "x"),
        lambda: write_qrels({"1": {name: 1}}, tmp_path / "x"),
    ):
        with pytest.raises(DataError, match="must not be empty or contain white space"):
            write()
    assert not list(tmp_path.iterdir())


def test_a_score_that_is_no_number_is_not_written(tmp_path):
    with pytest.raises(DataError, match="1 a has the score nan"):
        write_run({"1": {"a": float("nan")}}, tmp_path / "x")


def test_a_failed_write_leaves_the_old_file_as_it_was(tmp_path):
    path = tmp_path / "x.run"
    write_run({"1": {"a": 1.0}}, path)
    before = path.read_bytes()
    with pytest.raises(DataError):
        write_run({"1": {"a": 2.0, "not one": 1.0}}, path)
    assert path.read_bytes() == before


BAD_RUNS = {
    "fields": ("1 Q0 a 1 0.5\n", 1, "expected qid Q0 docid rank score tag, found 5 fields"),
    "score": ("1 Q0 a 1 0.5 t\n1 Q0 b 2 high t\n", 2, "expected a number as score, found 'high'"),
    "nan": ("1 Q0 a 1 nan t\n", 1, "expected a number as score, found 'nan'"),
    "twice": ("1 Q0 a 1 0.5 t\n1 Q0 a 2 0.4 t\n", 2, "a occurs a second time for question 1"),
}
BAD_QRELS = {
    "fields": ("1 0 a\n", 1, "expected qid 0 docid relevance, found 3 fields"),
    "relevance": ("1 0 a 0.5\n", 1, "expected a whole number as relevance, found '0.5'"),
    "twice": ("1 0 a 1\n1 0 a 1\n", 2, "a occurs a second time"),
}


@pytest.mark.parametrize(("content", "line", "problem"), BAD_RUNS.values(), ids=BAD_RUNS)
def test_a_bad_line_of_a_run_is_named(tmp_path, content, line, problem):
    (tmp_path / "x.run").write_text(content)
    with pytest.raises(DataError, match=rf"x\.run, line {line}: {problem}"):
        read_run(tmp_path / "x.run")


@pytest.mark.parametrize(("content", "line", "problem"), BAD_QRELS.values(), ids=BAD_QRELS)
def test_a_bad_line_of_qrels_is_named(tmp_path, content, line, problem):
    (tmp_path / "x.qrels").write_text(content)
    with pytest.raises(DataError, match=rf"x\.qrels, line {line}: {problem}"):
        read_qrels(tmp_path / "x.qrels")


def test_missing_ids_are_filled_in_and_given_ones_stay():
    groups = [Group("a", (Candidate("x"), Candidate("y", id="mine"))), Group("b", (Candidate("z"),), "B")]
    assert [(group.id, [one.id for one in group.candidates]) for group in identified(groups)] == [
        ("1", ["1-0", "mine"]),
        ("B", ["B-0"]),
    ]


def test_identifying_twice_changes_nothing():
    once = list(identified([Group("a", (Candidate("x"),)), Group("b", ())]))
    assert list(identified(once)) == once


def test_an_id_used_twice_is_rejected():
    with pytest.raises(DataError, match=r"Question 2 \('b'\) has the id '2' of an earlier question"):
        list(identified([Group("a", (), "2"), Group("b", ())]))
    with pytest.raises(DataError, match="Question '1' has two candidates with the id 'c'"):
        list(identified([Group("a", (Candidate("x", id="c"), Candidate("y", id="c")))]))


def test_qrels_hold_the_labels_and_leave_unlabelled_candidates_unjudged():
    groups = [Group("a", (Candidate("x", 1), Candidate("y", 0), Candidate("z")))]
    assert qrels(groups) == {"1": {"1-0": 1, "1-1": 0}}
