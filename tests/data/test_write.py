import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascada.core.errors import DataError
from cascada.data import Candidate, Group, read, write_jsonl
from cascada.text.context import InContext

texts = st.text(st.characters(exclude_categories=["Cs"]))
ids = st.none() | texts
candidates = st.builds(Candidate, texts, st.sampled_from([None, 0, 1]), ids, st.none() | st.integers(1, 4))
groups = st.builds(Group, texts.filter(str.strip), st.lists(candidates).map(tuple), ids)


@given(data=st.lists(groups, min_size=1))
def test_what_is_written_is_what_is_read(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("jsonl") / "x.jsonl"
    assert write_jsonl(data, path) == len(data)
    assert list(read(path)) == data


def test_a_line_separator_inside_a_text_survives(tmp_path):
    group = Group("who?", (Candidate("one\u2028two\x85three\nfour\r"),))
    write_jsonl([group], tmp_path / "x.jsonl")
    assert list(read(tmp_path / "x.jsonl")) == [group]


def test_a_context_stays_apart_from_its_text(tmp_path):
    group = Group("who?", (Candidate(InContext("It was built by Ada.", "The lighthouse"), 1), Candidate("no", 0)))
    write_jsonl([group], tmp_path / "x.jsonl")
    (first, second) = next(iter(read(tmp_path / "x.jsonl"))).texts
    assert (first.text, first.context) == ("It was built by Ada.", "The lighthouse")
    assert (second, type(second)) == ("no", str)


def test_a_context_that_is_no_text_is_named_with_its_line(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"question": "who?", "candidates": [{"text": "a", "context": ["b"]}]}\n')
    with pytest.raises(DataError, match=r'line 1.*"context"'):
        list(read(tmp_path / "x.jsonl"))


def test_a_gz_file_is_compressed(tmp_path):
    write_jsonl([Group("q", ())], tmp_path / "x.jsonl.gz")
    assert gzip.decompress((tmp_path / "x.jsonl.gz").read_bytes()) == b'{"question": "q", "candidates": []}\n'


def test_a_file_can_be_rewritten_from_itself(tmp_path):
    path = tmp_path / "x.jsonl"
    write_jsonl([Group("a", ()), Group("b", ())], path)
    write_jsonl((group for group in read(path) if group.question == "b"), path)
    assert list(read(path)) == [Group("b", ())]


def test_if_reading_the_data_fails_no_file_appears(tmp_path):
    def broken():
        yield Group("a", ())
        raise DataError("broken")

    with pytest.raises(DataError, match="broken"):
        write_jsonl(broken(), tmp_path / "x.jsonl")
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_written_is_reported_in_a_sentence(tmp_path):
    group = Group("q", ())
    with pytest.raises(DataError, match=r"x\.jsonl was not written: there are no questions to write"):
        write_jsonl([], tmp_path / "x.jsonl")
    with pytest.raises(DataError, match="cannot be written: No such file or directory"):
        write_jsonl([group], tmp_path / "no" / "x.jsonl")
    with pytest.raises(DataError, match="cannot be written: it is not a file"):
        write_jsonl([group], tmp_path)
    with pytest.raises(DataError, match="is not text"):
        write_jsonl([Group("\ud800", ())], tmp_path / "x.jsonl")
    assert not list(tmp_path.iterdir())


def test_a_teachers_score_is_kept_and_has_to_be_a_number(tmp_path):
    groups = [Group("who?", (Candidate("a", 1, "a", score=-1.5), Candidate("b", 0, "b")), "1")]
    write_jsonl(groups, tmp_path / "a.jsonl")
    assert list(read(tmp_path / "a.jsonl")) == groups
    (tmp_path / "b.jsonl").write_text('{"question": "who?", "candidates": [{"text": "a", "score": "high"}]}\n')
    with pytest.raises(DataError, match="line 1: expected a number as score, found 'high'"):
        list(read(tmp_path / "b.jsonl"))
