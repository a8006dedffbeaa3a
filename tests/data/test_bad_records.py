"""A malformed record is never skipped: the message names its place, what was expected and what was found."""

import json

import pytest

from cascada.core.errors import DataError
from cascada.data import read

GOOD = "who?\the\t1\n"
SEVEN = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"
QNLI = "index\tquestion\tsentence\tlabel\n"
CSV = "question,text,label\n"
OURS = '{"question": "q", "candidates": []}\n'

LINES = {
    "too few columns": ("wikiqa", GOOD + "who?\t1\n", 2, "expected 3 tab-separated columns.*found 2: 'who"),
    "too many columns": ("wikiqa", GOOD + "a\tb\tc\t1\n", 2, "expected 3 .*found 4"),
    "seven columns short": ("wikiqa", SEVEN + GOOD, 2, "expected 7 tab-separated columns.*found 3"),
    "a label of words": ("wikiqa", GOOD + "a\tb\tyes\n", 2, "expected label 0 or 1, found 'yes'"),
    "an unknown label": ("wikiqa", "a\tb\t2\n", 1, "expected label 0 or 1, found '2'"),
    "no question": ("wikiqa", " \tb\t1\n", 1, "expected the text of a question, found ' '"),
    "asnq label 0": ("asnq", "a\tb\t0\n", 1, "expected a label from 1 to 4, found '0'"),
    "asnq label 5": ("asnq", "a\tb\t4\na\tb\t5\n", 2, "expected a label from 1 to 4, found '5'"),
    "qnli without header": ("qnli", "0\tq\ts\tentailment\n", 1, "expected the header index"),
    "qnli label": ("qnli", QNLI + "0\tq\ts\tneutral\n", 2, "expected entailment or not_entailment, found 'neutral'"),
    "csv header": ("csv", "question,label\n", 1, "expected a header with question, label and one of sentence"),
    "csv header twice": ("csv", "question,text,label,label\n", 1, "each once"),
    "csv two candidates": (
        "csv",
        "query,passage,content,label\n",
        1,
        "passage and content could both be the candidate",
    ),
    "csv columns": ("csv", CSV + '"a\nb",c,1\na,b\n', 4, "expected 3 columns .*found 2"),
    "csv quote": ("csv", CSV + 'a,b,1\na,"b,1\n', 3, "not valid CSV"),
    "csv blank line": ("csv", CSV + "a,b,1\n\na,b,0\n", 3, "expected a row, found an empty line"),
    "csv label": ("csv", CSV + "a,b,\n", 2, "expected label 0 or 1, found ''"),
    "json syntax": ("jsonl", OURS + "{'question'}\n", 2, "expected one JSON object per line, found"),
    "json list": ("jsonl", OURS + "[1]\n", 2, r"expected a record as a JSON object, found \[1\]"),
    "no candidates": ("jsonl", '{"question": "q"}\n', 1, "expected a list of candidates, found None"),
    "candidate of text": ("jsonl", '{"question": "q", "candidates": ["a"]}\n', 1, "expected a candidate as a JSON obj"),
    "candidate without text": ("jsonl", '{"question": "q", "candidates": [{}]}\n', 1, 'expected "text" or "sentence"'),
    "label 2": ("jsonl", '{"question": "q", "candidates": [{"text": "", "label": 4}]}', 1, "label 0 or 1, found 4"),
    "relevance": (
        "jsonl",
        OURS + '{"question": "q", "candidates": [{"text": "", "relevance": 1.5}]}',
        2,
        "expected a whole number as relevance, found 1.5",
    ),
    "grade": ("jsonl", '{"question": "q", "candidates": [{"text": "", "grade": "x"}]}', 1, "a whole number as grade"),
    "id": ("jsonl", '{"question": "q", "candidates": [], "id": [1]}', 1, r"expected an id .*, found \[1\]"),
    "half a character": ("jsonl", '{"question": "\\ud800", "candidates": []}', 1, "half of a surrogate pair"),
    "nested too deep": ("jsonl", "[" * 100_000 + "\n", 1, "expected one JSON object per line"),
    "gpd pair": ("gpd", '{"question": "q", "label": 1}\n', 1, 'expected "text" or "sentence"'),
    "selqa syntax": ("selqa", '[{"question": "q",\n "candidates": [}]\n', 2, "not valid JSON"),
}


@pytest.mark.parametrize(("layout", "content", "line", "problem"), LINES.values(), ids=LINES)
def test_a_bad_line_is_named(tmp_path, layout, content, line, problem):
    (tmp_path / "bad").write_bytes(content.encode())
    with pytest.raises(DataError, match=rf"bad, line {line}: .*{problem}"):
        list(read(f"{layout}:{tmp_path / 'bad'}"))


def squad(start):
    asked = [{"id": "a", "question": "q", "answers": [{"text": "Yes", "answer_start": start}]}]
    return {"data": [{"paragraphs": [{"context": "Yes.", "qas": asked}]}]}


DOCUMENTS = {
    "no list": ("selqa", {}, "the document: expected a list of questions, found {}"),
    "answer too high": ("selqa", [{"question": "q", "candidates": ["a"], "answers": [1]}], "question 1: .* found 1"),
    "answer below": ("selqa", [{"question": "q", "candidates": ["a"], "answers": [-1]}], "question 1: .* found -1"),
    "candidate": ("selqa", [{"question": "q", "candidates": [1], "answers": []}], "question 1: expected text"),
    "no data": ("squad", {"version": "1.1"}, 'the document: expected a list of articles under "data", found None'),
    "start outside": ("squad", squad(4), "article 1, paragraph 1: expected the answer 'Yes' at character 4"),
    "start of words": ("squad", squad("0"), "article 1, paragraph 1: expected the answer 'Yes' at character '0'"),
}


@pytest.mark.parametrize(("layout", "document", "problem"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_bad_entry_of_a_json_document_is_named(tmp_path, layout, document, problem):
    (tmp_path / "bad.json").write_text(json.dumps(document))
    with pytest.raises(DataError, match=rf"bad\.json, {problem}"):
        list(read(f"{layout}:{tmp_path / 'bad.json'}"))


XML = {
    "no group": ("<positive>\n", 1, "expected <QApairs id='…'>, found '<positive>'"),
    "no question": ("<QApairs id='1'>\n<positive>\n", 2, "expected <question>, found"),
    "another tag": ("<QApairs id='1'>\n<question>\na\n</question>\n<maybe>\n", 5, "expected <positive>, <negative>"),
    "no words": ("<QApairs id='1'>\n<question>\n</question>\n", 3, "expected the words of the sentence"),
    "cut off": ("<QApairs id='1'>\n<question>\na\nb\n", 2, "the file ends before '<question>' is closed"),
    "not closed": ("<QApairs id='1'>\n<question>\na\n</question>\n", 1, "the file ends before .* is closed"),
}


@pytest.mark.parametrize(("content", "line", "problem"), XML.values(), ids=XML)
def test_trecqa_xml_with_a_wrong_structure_is_named(tmp_path, content, line, problem):
    (tmp_path / "bad.xml").write_text(content)
    with pytest.raises(DataError, match=rf"bad\.xml, line {line}: {problem}"):
        list(read(f"trecqa:{tmp_path / 'bad.xml'}"))
