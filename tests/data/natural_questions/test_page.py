"""The sentences of a page, and the span of tokens of each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nq_records import annotation, record

from cascada.data.natural_questions.labels import page_sentences
from cascada.data.natural_questions.record import Page


@pytest.fixture
def texts(parsed):
    return lambda page: [sentence.text for sentence in page_sentences(parsed(record("q", page, annotation(page))).page)]


def test_a_paragraph_is_split_into_sentences_of_tokens(texts):
    page = "<P> It rises 4,808 m ( 15,774 ft ) . The U.S. team met St. Mark 's . He said `` yes . '' Why ? </P>"
    assert texts(page) == [
        "It rises 4,808 m ( 15,774 ft ) .",
        "The U.S. team met St. Mark 's .",
        "He said `` yes . ''",
        "Why ?",
    ]


def test_block_tags_end_a_sentence_even_without_a_full_stop(texts):
    page = "Lyra - wikipedia <H1> Lyra </H1> Jump to <Ul> <Li> 1 Name <Ul> <Li> 1.1 Myth </Li> </Ul> </Li> </Ul>"
    assert texts(page) == ["Lyra - wikipedia", "Lyra", "Jump to", "1 Name", "1.1 Myth"]


@pytest.mark.parametrize("tag", ["P", "H2", "Table", "Tr", "Ul", "Ol", "Li", "Dl", "Dt", "Dd", "Div"])
def test_each_block_tag_ends_one(texts, tag):
    assert texts(f"one <{tag}> two </{tag}> three") == ["one", "two", "three"]


def test_the_cells_of_a_row_read_as_text(texts):
    page = '<Table> <Tr> <Th_colspan="2"> Vega </Th> </Tr> <Tr> <Th> Colour </Th> <Td> blue </Td> </Tr> </Table>'
    assert texts(page) == ["Vega", "Colour blue"]


def test_tags_within_a_sentence_are_not_read(texts):
    assert texts("<P> a <B> bold </B> word <Br> here </P>") == ["a bold word here"]


def test_a_sign_that_only_looks_like_a_tag_is_text(texts):
    assert texts("<P> < 1 and <3 and a > b </P>") == ["< 1 and <3 and a > b"]


def test_nothing_is_nothing(texts):
    assert texts("<P> </P>") == texts("") == texts("<P> \xa0 \t </P>") == []


def test_white_space_inside_a_token_becomes_a_space(texts):
    assert texts("<P> 10\xa0km\tin\nall </P>") == ["10 km in all"]


tokens = st.lists(st.sampled_from(["A", "b", ".", "?", "''", "J.", "p.", "", "\xa0", "x.Y", "<P>", "<Td>", "</Tr>"]))


@given(tokens)
def test_every_text_token_is_in_exactly_one_sentence(page):
    tags = {position: token.strip("</>").lower() for position, token in enumerate(page) if token.startswith("<")}
    sentences = list(page_sentences(Page(page, tags)))
    covered = [i for sentence in sentences for i in range(*sentence.span) if i not in tags and page[i].strip()]
    assert covered == [i for i, token in enumerate(page) if i not in tags and token.strip()]
    for sentence in sentences:
        words = (page[i] for i in range(*sentence.span) if i not in tags)
        assert sentence.text.split() == " ".join(words).split()
