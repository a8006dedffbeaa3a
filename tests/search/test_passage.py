"""Passages are paragraphs, have correct offsets, and are never too long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascada.search import Document, passages
from cascada.search.passage import MAX_LENGTH

SPACES = [" ", "\n", "\n\n", "\r\n\r\n", "\f", "\n \t\n", "\xa0", "\ufeff"]
PIECES = ["A heading", "It ended. ", "word ", "Why? ", "x" * 700, "one two three four. " * 60, "y" * (MAX_LENGTH + 5)]


def texts(text):
    return [passage.text for passage in passages(Document("d", text))]


@given(text=st.lists(st.sampled_from(SPACES + PIECES) | st.text(max_size=4), max_size=30).map("".join))
def test_passages_have_correct_offsets_in_order_and_no_text_is_lost(text):
    end = 0
    for passage in passages(Document("d", text)):
        assert text[passage.start : passage.end] == passage.text == passage.text.strip() != ""
        assert not text[end : passage.start].replace("\ufeff", " ").strip()
        assert len(passage.text) <= MAX_LENGTH + 200
        end = passage.end
    assert not text[end:].replace("\ufeff", " ").strip()


@pytest.mark.parametrize("gap", ["\n\n", "\r\n\r\n", "\n  \n", "\n\n\n\n", "\f"])
def test_empty_lines_divide_paragraphs_and_line_ends_do_not(gap):
    assert texts(f"One\nand more.{gap}Two.") == ["One\nand more.", "Two."]


def test_a_heading_goes_with_the_paragraph_after_it():
    assert texts("# Hours\n\nFrom nine to five.\n\nCall us.") == ["# Hours\n\nFrom nine to five.", "Call us."]


def test_the_lines_of_a_list_stay_together():
    assert texts("Milk\n\nBread\n\nEggs") == ["Milk\n\nBread\n\nEggs"]


def test_a_long_paragraph_is_cut_between_sentences():
    found = texts("This sentence has exactly eight words in it. " * 200)
    assert len(found) > 4
    assert all(len(text) <= MAX_LENGTH and text.startswith("This") and text.endswith("it.") for text in found)


def test_a_sentence_that_is_too_long_is_cut_between_words():
    found = texts("word " * 2000)
    assert all(len(text) <= MAX_LENGTH and set(text.split()) == {"word"} for text in found)
    assert sum(len(text.split()) for text in found) == 2000


def test_a_passage_knows_its_line_or_its_page():
    text = "One.\n\nTwo,\nstill two.\n\n\nThree."
    assert [passage.line for passage in passages(Document("d", text, "lines"))] == [1, 3, 7]
    assert [passage.page for passage in passages(Document("d", "One.\fTwo.\n\nMore.\f\fFour.", "pages"))] == [
        1,
        2,
        2,
        4,
    ]
    assert {(passage.line, passage.page) for passage in passages(Document("d", text))} == {(None, None)}


def test_lines_are_counted_within_a_passage():
    (passage,) = passages(Document("d", "\n\nOne\ntwo\nthree.", "lines"))
    assert (passage.line, passage.line_at(passage.text.index("three")), passage.page_at(0)) == (3, 5, None)
