"""`ask` with a reader: the short answer in the sentence, with its offsets in the document."""

import json

import pytest
from rich.console import Console

from cascada import Ranker
from cascada.reading import Span
from cascada.search import Asker, MemoryRetriever, Passage

TEXT = "It rained. Hamlet was written by\nWilliam  Shakespeare. Macbeth was, too."


class NameReader:
    """Has the method of `Reader`, but knows only one name."""

    def __init__(self, name="William  Shakespeare", score=0.9):
        self.name, self.score, self.asked = name, score, []

    def read(self, question, texts):
        self.asked.append((question, texts))
        found = [(number, text.index(self.name)) for number, text in enumerate(texts) if self.name in text]
        return [Span(self.name, start, start + len(self.name), self.score, number) for number, start in found]


def ask(reader=None, **settings):
    passage = Passage(TEXT, "plays.txt", 100, 100 + len(TEXT))
    return Asker(MemoryRetriever([passage]), Ranker.load("bm25"), reader=reader).ask("who wrote hamlet?", **settings)


def test_the_short_answer_has_its_offsets_in_the_document():
    answer = ask(NameReader())[0]
    assert TEXT[answer.short.start - 100 : answer.short.end - 100] == answer.short.text == "William  Shakespeare"
    assert answer.start <= answer.short.start < answer.short.end <= answer.end


def test_json_has_it_under_answer():
    found = json.loads(json.dumps(ask(NameReader()).to_dict()))
    assert set(found["answers"][0]["answer"]) == {"text", "start", "end", "score"}
    assert found["answers"][0]["answer"]["score"] == 0.9
    assert found["answers"][1]["answer"] is None
    assert found["seconds"]["read"] >= 0


def test_only_the_sentences_that_are_returned_are_read():
    reader = NameReader()
    ask(reader, top=1)
    assert reader.asked == [("who wrote hamlet?", ["Hamlet was written by\nWilliam  Shakespeare."])]


def test_a_span_that_is_probably_no_answer_is_not_shown():
    assert ask(NameReader(score=0.4))[0].short is None
    assert ask()[0].short is None
    assert ask().to_dict()["answers"][0]["answer"] is None


def test_a_terminal_shows_it_bold_within_the_sentence():
    console = Console(force_terminal=True, color_system="standard", width=200, legacy_windows=False)
    with console.capture() as captured:
        console.print(ask(NameReader(), top=1))
    sentence = "\x1b[32mHamlet was written by \x1b[0m\x1b[1;32mWilliam Shakespeare\x1b[0m\x1b[32m.\x1b[0m"
    assert sentence in captured.get()


def test_without_colours_it_is_between_stars():
    assert "» Hamlet was written by **William Shakespeare**. «" in str(ask(NameReader(), top=1))


@pytest.mark.parametrize("name", ["Hamlet", "Hamlet was written by\nWilliam  Shakespeare."])
def test_an_answer_may_begin_or_fill_its_sentence(name):
    expected = f"**{' '.join(name.split())}**"
    assert f"» {expected}" in str(ask(NameReader(name), top=1))


def test_after_the_deadline_nothing_is_read():
    reader = NameReader()
    found = ask(reader, deadline_ms=0.0001)
    assert (len(found), reader.asked) == (3, [])
