"""Every line of the files has a result, in order, whatever the line contains."""

import gzip
import json

import pytest
from nq_records import LYRA, annotation, answered, original, record, write_lines

from cascada.core.errors import DataError
from cascada.data import Group, read
from cascada.data.natural_questions import Skipped, line_results, write_asnq

UNANSWERED = record("why", LYRA, annotation(LYRA))


def summary(results):
    return [
        result.question if isinstance(result, Group) else result if isinstance(result, Skipped) else str(result)
        for result in results
    ]


def test_several_files_plain_and_gzipped_of_both_releases_are_one_stream(tmp_path):
    write_lines(tmp_path / "a.jsonl", answered("one"), UNANSWERED)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(json.dumps(original(answered("two"))).encode()))
    results = line_results([tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"])
    assert summary(results) == ["one", Skipped.NO_LONG_ANSWER, "two"]


def test_workers_change_nothing_but_the_speed(tmp_path):
    many = [answered(f"question {number}") if number % 3 else UNANSWERED for number in range(40)]
    path = write_lines(tmp_path / "a.jsonl", *many)
    path.write_text(path.read_text() + "{\n")
    alone, together = (list(line_results([path], workers=workers)) for workers in (1, 2))
    assert summary(together) == summary(alone)
    assert [one for one in together if isinstance(one, Group)] == [one for one in alone if isinstance(one, Group)]


BROKEN = {
    "not json": ("{", "expected one JSON object per line, found '{'"),
    "not an object": ("[]", "expected a record as a JSON object"),
    "empty": ("", "expected one JSON object per line, found ''"),
    "no page": ('{"question_text": "q"}', 'expected "document_text" or "document_tokens"'),
    "no annotations": ('{"question_text": "q", "document_text": "a"}', 'expected "annotations"'),
    "no question": (json.dumps(answered(" ")), "expected the text of a question, found ' '"),
    "odd tokens": (json.dumps(original(answered()) | {"document_tokens": ["a"]}), "expected document_tokens with"),
    "half a character": (json.dumps(answered(page=LYRA + " \ud800")), "half of a surrogate pair"),
    "beyond the page": (
        json.dumps(answered() | {"document_text": "short page"}),
        "expected an answer within the page's 2 tokens, found one from token 3 to 13",
    ),
}


@pytest.mark.parametrize(("text", "problem"), BROKEN.values(), ids=BROKEN)
def test_the_result_of_a_bad_line_names_its_place_and_conversion_continues(tmp_path, text, problem):
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(answered('one'))}\n{text}\n{json.dumps(answered('two'))}\n")
    one, bad, two = line_results([path])
    assert (one.question, two.question) == ("one", "two")
    assert isinstance(bad, DataError)
    assert "a.jsonl, line 2: " in str(bad)
    assert problem in str(bad)


def test_bytes_that_are_not_utf8_spoil_one_line_only(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"caf\xe9\n" + json.dumps(answered("two")).encode())
    bad, two = line_results([path])
    assert "line 1: expected UTF-8 text, found byte 0xe9" in str(bad)
    assert two.question == "two"


def test_a_truncated_gzip_file_gives_every_complete_line_and_then_the_next_file(tmp_path):
    lines = [json.dumps(answered(f"question {number}", LYRA + f" {number * 7919 % 10007}")) for number in range(2000)]
    whole = gzip.compress("\n".join(lines).encode())
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    write_lines(tmp_path / "next.jsonl", answered("next"))
    *kept, bad, last = line_results([tmp_path / "cut.jsonl.gz", tmp_path / "next.jsonl"])
    assert len(kept) > 500
    assert [group.question for group in kept] == [f"question {number}" for number in range(len(kept))]
    assert f"cut.jsonl.gz, line {len(kept) + 1}: the gzip file is damaged or truncated here" in str(bad)
    assert last.question == "next"


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_the_result_of_an_empty_file_is_an_error(tmp_path, content):
    (tmp_path / "a.jsonl").write_text(content)
    (error,) = line_results([tmp_path / "a.jsonl"])
    assert str(error).endswith("a.jsonl is empty: expected lines of Natural Questions")


def test_empty_lines_at_the_end_are_ignored(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", answered())
    path.write_text(path.read_text() + "\n \n")
    assert len(list(line_results([path]))) == 1


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_progress_counts_the_bytes_of_the_files(tmp_path, name):
    text = "".join(json.dumps(answered(str(number))) + "\n" for number in range(200)).encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    steps = []
    list(line_results([tmp_path / name], advance=steps.append))
    assert sum(steps) == (tmp_path / name).stat().st_size


def test_what_is_written_reads_back_as_asnq(tmp_path):
    """Not even a tab or a quotation mark in the texts disturbs the layout."""
    odd = "<P> a\tb \" c . </P> <P> ' d . </P>"
    marked = record('who\tis "it"\n?', odd, annotation(odd, '<P> a\tb " c . </P>', "a\tb"))
    path = write_lines(tmp_path / "a.jsonl", answered("one"), UNANSWERED, marked)
    done = write_asnq(line_results([path]), tmp_path / "out.tsv.gz")
    one, other = read(f"asnq:{tmp_path / 'out.tsv.gz'}")
    assert [(candidate.text, candidate.grade) for candidate in other.candidates] == [('a b " c .', 4), ("' d .", 1)]
    assert (one.question, other.question) == ("one", 'who is "it" ?')
    assert (done.counted.questions, done.counted.pairs, done.counted.grades) == (2, 7, {1: 3, 2: 1, 3: 1, 4: 2})
    assert done.skipped == {Skipped.NO_LONG_ANSWER: 1}
    assert done.problems == 0


def test_a_question_asked_of_two_pages_is_one_question(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", answered("same"), answered("other"), answered("same"))
    assert write_asnq(line_results([path]), tmp_path / "out.tsv").counted.questions == 2
    assert len(list(read(f"asnq:{tmp_path / 'out.tsv'}"))) == 2


def test_without_a_question_nothing_is_written(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", UNANSWERED)
    with pytest.raises(DataError, match=r"out\.tsv was not written: .*; 1 with no long answer"):
        write_asnq(line_results([path]), tmp_path / "out.tsv")
    assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl"]
