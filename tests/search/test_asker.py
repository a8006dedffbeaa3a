"""A question is answered by sentences with their positions."""

import numpy as np
import pytest

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.ranking.stage import Scored
from cascada.search import Asker, MemoryRetriever, Passage, ask, read_passages

PLAYS = """\ufeffPlays\r\n\r\nIt rained all day. Hamlet was written\r\nby William Shakespeare. Macbeth is his, too.

# Who wrote Hamlet?

The poet of Pearl is not known.
"""


@pytest.fixture
def plays(tmp_path):
    path = tmp_path / "plays.txt"
    path.write_bytes(PLAYS.encode())
    return path


class Length:
    """A stage that gives long texts high scores."""

    exit, layers = 6, 6

    def __init__(self, factor):
        self.factor = factor

    def score(self, pairs, state, deadline):
        deadline.check()
        return Scored(np.array([len(text) for text in pairs.texts], np.float32))

    def flops(self, tokens):
        return np.zeros_like(tokens)

    def probability(self, scores):
        return np.minimum(scores * self.factor, 1).astype(np.float32)


def test_an_answer_is_at_the_offsets_it_names(plays):
    found = ask("Who wrote Hamlet?", plays)
    assert found[0].text == "Hamlet was written\r\nby William Shakespeare."
    for answer in found:
        assert answer.document == str(plays)
        assert PLAYS[answer.start : answer.end] == answer.text
        assert PLAYS[answer.passage.start : answer.passage.end] == answer.passage.text
    assert (found[0].line, found[0].page, found[0].place) == (3, None, f"{plays}, line 3")


def test_a_heading_is_not_an_answer(plays):
    assert all("# Who wrote" not in answer.text for answer in ask("Who wrote Hamlet?", plays, top=None))


def test_a_repeated_sentence_counts_once_where_it_was_found_first():
    passages = [Passage("He wrote it.", name, 0, 12) for name in ("a", "b")]
    (answer,) = Asker(MemoryRetriever(passages)).ask("who wrote it?")
    assert (answer.text, answer.document) == ("He wrote it.", "a")


def test_any_object_with_a_retrieve_method_is_a_retriever():
    class Mine:
        def retrieve(self, question, count):
            assert (question, count) == ("who?", 7)
            return [Passage("He did.", "my-database/5", 40, 47, 0.5)]

    (answer,) = Asker(Mine()).ask("who?", paragraphs=7)
    assert (answer.document, answer.start, answer.end) == ("my-database/5", 40, 47)
    assert (answer.line, answer.page, answer.place) == (None, None, "my-database/5")


def test_any_ranker_ranks_and_says_whether_it_found_an_answer(plays):
    retriever = MemoryRetriever(read_passages([plays]))
    sure = Asker(retriever, Ranker([Length(0.02)])).ask("Who wrote Hamlet?", top=1)
    assert (sure.likely, len(sure), sure[0].text[:6]) == (True, 1, "Hamlet")
    unsure = Asker(retriever, Ranker([Length(0.001)])).ask("Who wrote Hamlet?")
    assert unsure.likely is False
    assert "None of these is likely to be an answer" in str(unsure)
    assert Asker(retriever, Ranker.load("bm25")).ask("Who wrote Hamlet?").likely is None


def test_the_rankers_options_are_passed_on(plays):
    retriever = MemoryRetriever(read_passages([plays]))
    asker = Asker(retriever, Ranker([Length(0.01), Length(0.01)]))
    assert asker.ask("Who wrote Hamlet?", drop=0.5).relative_cost < 1
    assert asker.ask("Who wrote Hamlet?", keep=[1]).relative_cost < 1
    assert asker.ask("Who wrote Hamlet?", deadline_ms=60_000).complete
    assert not asker.ask("Who wrote Hamlet?", deadline_ms=1e-6).complete
    with pytest.raises(CascadaError, match="drop and keep were both given"):
        asker.ask("Who wrote Hamlet?", drop=0.5, keep=[1])


def test_finding_nothing_is_not_an_error(plays):
    found = ask("xylophone", plays)
    assert (len(found), found.to_dict()["answers"]) == (0, [])
    assert "No passage shares a word with the question." in str(found)


@pytest.mark.parametrize(
    ("question", "settings", "sentence"),
    [
        (" ", {}, "The question is empty."),
        (None, {}, "The question is empty."),
        ("who?", {"paragraphs": 0}, "paragraphs is 0"),
        ("who?", {"top": 0}, "top is 0"),
        ("who?", {"deadline_ms": -1}, "deadline_ms is -1"),
    ],
)
def test_invalid_questions_and_options_are_rejected_before_anything_is_searched(question, settings, sentence):
    class Never:
        def retrieve(self, question, count):
            raise AssertionError

    with pytest.raises(CascadaError, match=sentence):
        Asker(Never()).ask(question, **settings)


def test_of_a_long_passage_the_part_around_the_answer_is_shown():
    text = "It went on. " * 60 + "Hamlet is by Shakespeare. " + "So it goes. " * 60
    start = text.index("Hamlet")
    shown = str(
        Asker(MemoryRetriever([Passage(text.strip(), "d.txt", 0, len(text) - 1)])).ask("who wrote hamlet?", top=1)
    )
    assert "» Hamlet is by Shakespeare. «" in shown
    assert shown.count("…") == 2
    assert len(shown) < 700
    assert start > 700


def test_what_the_search_engine_thought_counts_if_asked_for():
    """Both sentences score the same; the second one's paragraph was found first, and the prior breaks the tie."""

    class Mine:
        def retrieve(self, question, count):
            texts = [("Anna wrote Hamlet there.", 1.0), ("Emma wrote Hamlet twice.", 9.0), ("It did rain.", 0.5)]
            return [Passage(text, f"{place}.txt", 0, len(text), score) for place, (text, score) in enumerate(texts)]

    asker = Asker(Mine(), Ranker.load("bm25"))
    assert asker.ask("who wrote hamlet?")[0].document == "0.txt"
    assert asker.ask("who wrote hamlet?", prior=0)[0].document == "0.txt"
    assert asker.ask("who wrote hamlet?", prior=4)[0].document == "1.txt"


def test_that_no_sentence_scores_enough_is_said():
    passages = [Passage("Hamlet is a play by Shakespeare.", "plays.txt", 0, 32)]
    found = Asker(MemoryRetriever(passages)).ask("who wrote hamlet?", min_score=1.0)
    assert (len(found), found.sentences, found.likely) == (0, 1, False)
    assert "No sentence is likely to be an answer." in str(found)
