import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascada.text.sentences import sentences

# What splitters trip over: initials, abbreviations, quotes, and white space of every kind.
SPACES = [" ", "\xa0", "\u3000", "\u2028", "\x85", "\n\n", "\r\n", "\u200b"]
WORDS = ["Dr. ", "J.", "A", "e.g. ", "It ended", ".", "!", "? ", "“quoted.”", "(aside.)", "é", "😀", "。", "3.14", "…"]
pieces = st.sampled_from(SPACES + WORDS)


@given(document=st.lists(pieces | st.text(max_size=5), max_size=40).map("".join))
def test_every_sentence_stands_where_it_says_in_order_and_nothing_but_space_is_lost(document):
    found = sentences(document)
    end = 0
    for sentence in found:
        assert document[sentence.start : sentence.end] == sentence.text == sentence.text.strip() != ""
        assert not document[end : sentence.start].strip()
        end = sentence.end
    assert not document[end:].strip()


def test_abbreviations_and_initials_do_not_end_a_sentence():
    text = "Dr. Smith met J.\xa0K. Rowling at 3.15 p.m. in London. They spoke!  Did they?"
    assert [sentence.text for sentence in sentences(text)][-2:] == ["They spoke!", "Did they?"]
    assert sentences(text)[0].text.startswith("Dr. Smith met")


def test_paragraphs_end_sentences():
    assert [sentence.text for sentence in sentences("A title\n\nThe text.")] == ["A title", "The text."]


@pytest.mark.parametrize("text", ["", "  \n\n ", "\xa0"])
def test_no_text_has_no_sentences(text):
    assert sentences(text) == []


def test_other_languages_have_their_own_rules():
    assert [one.text for one in sentences("今天下雨。我在家。", "zh")] == ["今天下雨。", "我在家。"]
