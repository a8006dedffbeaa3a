"""The sentences of a passage, and which of them can answer."""

import pytest

from cascada.text.statements import can_answer, passage_sentences
from cascada.text.words import words


def test_offsets_count_in_the_passage_and_table_rows_stand_alone():
    text = "Two towers.\n| name | metres |\n| Eiffel | 330 |\nThat is all."
    found = passage_sentences(text)
    assert [text[sentence.start : sentence.end] for sentence in found] == [sentence.text for sentence in found]
    assert "| Eiffel | 330 |" in [sentence.text.splitlines()[0] for sentence in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Hamlet", False),
        ("[citation needed]", False),
        ("Who wrote Hamlet?", False),
        ("…", False),
        ("Shakespeare wrote Hamlet.", True),
        ("Who wrote Hamlet.", True),  # a statement, though it has only words of the question
    ],
)
def test_what_states_nothing_cannot_answer(text, expected):
    assert can_answer(text, frozenset(words("who wrote hamlet?"))) is expected
