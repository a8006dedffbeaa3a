"""Candidate sentences: what of a passage may be an answer."""

import pytest

from cascada.core.errors import CascadaError
from cascada.search import Passage
from cascada.search.candidates import candidate_sentences, check_units, texts_in


def passage_of(text):
    return Passage(text, "d", 0, len(text))


def test_headings_and_the_question_itself_are_not_candidates():
    passage = passage_of("# Hours\n\nOpening hours\n\nFrom nine to five. Opening hours?")
    found = candidate_sentences("what are the opening hours?", [passage])
    assert [candidate.text for candidate in found] == ["From nine to five."]


def test_notes_in_brackets_are_not_candidates():
    text = "It is [sic] old.[1] [citation needed] He wrote it. [edit] [2][3]"
    passage = Passage(text, "d", 0, len(text))
    found = [candidate.text for candidate in candidate_sentences("Who wrote it?", [passage])]
    assert not {"[citation needed]", "[edit]", "[2][3]", "[edit] [2][3]"} & set(found)
    assert any("He wrote it." in text for text in found)
    assert any("[sic]" in text for text in found)


def test_a_statement_in_the_words_of_the_question_is_a_candidate():
    passage = Passage("Paris is the capital of France.", "d", 0, 31)
    (candidate,) = candidate_sentences("Is Paris the capital of France?", [passage])
    assert candidate.text == "Paris is the capital of France."


def test_each_row_of_a_table_is_a_candidate():
    table = "| town | people |\n|---|---|\n| Ulm | 126,000 |\n| Bonn | 330,000 |"
    found = candidate_sentences("How many people live in Bonn?", [Passage(table, "d", 100, 100 + len(table))])
    assert [row.text for row in found] == ["| town | people |", "| Ulm | 126,000 |", "| Bonn | 330,000 |"]
    assert all(table[row.start : row.start + len(row.text)] == row.text for row in found)


@pytest.mark.parametrize(
    ("units", "expected"),
    [("sentences", ["It rained.", "It snowed."]), ("paragraphs", ["It rained. It snowed.", "It rained."])],
)
def test_distinct_sentences_or_paragraphs_are_encoded(units, expected):
    passages = [passage_of(text) for text in ("It rained. It snowed.", "It rained.", "It rained.")]
    assert texts_in(passages, units) == expected


def test_units_are_checked():
    check_units("candidates", data_set=True)
    with pytest.raises(CascadaError, match="--units takes sentences, paragraphs or candidates, not 'words'"):
        check_units("words", data_set=False)
    with pytest.raises(CascadaError, match="--root and --split belong to a data set"):
        check_units("sentences", data_set=True)
