"""Texts that are longer than a ranker reads."""

import pytest

from cascada import Ranker
from cascada.core.errors import CascadaError, TextTooLong
from cascada.encoders.torch_stages import TorchStage
from cascada.ranking.plan import drop_plan, with_least


@pytest.fixture(scope="module")
def cascade(cascade_folder):
    """Reads 64 tokens; exits after layers 2 and 4."""
    return Ranker.load(cascade_folder)


@pytest.fixture
def sentences(words):
    """Twenty sentences of ten words: more than three times what the cascade reads."""
    return [" ".join(words[place : place + 10]).capitalize() + "." for place in range(0, 200, 10)]


@pytest.fixture
def long(sentences):
    return " ".join(sentences)


@pytest.fixture
def question(words):
    return f"{words[3]} {words[8]}?"


def test_a_long_text_counts_by_its_best_window_of_whole_sentences(cascade, question, long, sentences):
    (item,) = cascade.rank(question, [long], long="best", drop=0)
    start, end = item.window
    part = long[start:end]
    assert not item.truncated
    assert all(sentence in sentences for sentence in part.replace(". ", ".|").split("|"))
    (alone,) = cascade.rank(question, [part], drop=0)
    assert item.raw_score == pytest.approx(alone.raw_score, abs=1e-5)
    others = cascade.rank(question, [long[first : first + len(part)] for first in (0, start)], drop=0)
    assert others[0].raw_score <= item.raw_score + 1e-5


def test_windows_share_the_cascade_and_only_the_best_goes_on(cascade, question, long, words):
    ranking = cascade.rank(question, [long, words[1], words[2]], drop=0.3)
    first, last = ranking.stages
    assert (first.candidates, last.candidates) == (3, 3)
    assert first.texts > 5
    assert last.texts == 3
    assert ranking.relative_cost == pytest.approx((first.texts + last.texts) / (2 * first.texts))


def test_without_drops_every_window_is_read_to_the_end(cascade, question, long, words):
    ranking = cascade.rank(question, [long, words[1]], drop=0)
    assert ranking.stages[0].texts == ranking.stages[1].texts > 2
    assert ranking.relative_cost == 1


def test_a_least_number_to_keep_counts_windows_too(cascade, question, long, words):
    texts = [long, words[1], words[2], " ".join(reversed(long.split()))]

    def read(least):
        ranker = cascade.with_plan(with_least(drop_plan(0.5, 2), least))
        first, last = next(iter(ranker.rank_many([(question, texts), (question, texts[1:3])]))).stages
        return first.texts, last.candidates, last.texts

    every = read(1)[0]
    assert read(1) == (every, 2, 2)
    assert read(4) == (every, 4, 4)
    assert read(7) == (every, 4, 7)
    assert read(every) == read(2 * every) == (every, 4, every)


def test_the_windows_that_go_on_are_the_best_of_their_text(cascade, question, long, words, monkeypatch):
    read = {}  # by exit: each window with its score
    score = TorchStage.score

    def recorded(stage, pairs, *given):
        scored = score(stage, pairs, *given)
        read[stage.exit] = dict(zip(pairs.texts, scored.scores, strict=True))
        return scored

    monkeypatch.setattr(TorchStage, "score", recorded)
    whole = cascade.rank(question, [long, words[1]], drop=0)
    windows = {text: score for text, score in read[2].items() if text != words[1]}
    assert len(windows) > 3
    some = cascade.with_plan(with_least(drop_plan(0.5, 2), 3)).rank(question, [long, words[1]])
    best = sorted(windows, key=windows.get)[-2:]
    assert set(read[4]) == {words[1], *best}
    assert some[0].scores[0] == whole[0].scores[0]


def test_at_a_ratio_of_0_every_window_goes_on_whatever_the_least_number(cascade, question, long, words):
    ranker = cascade.with_plan(with_least(drop_plan(0, 2), 3))
    first, last = ranker.rank(question, [long, words[1]]).stages
    assert last.texts == first.texts > 3


def test_first_cuts_and_says_so(cascade, question, long):
    (item,) = cascade.rank(question, [long], long="first")
    assert (item.truncated, item.window) == (True, None)


def test_error_refuses_a_long_text_by_its_number(cascade, question, long, words):
    with pytest.raises(TextTooLong, match="Candidate 1 does not fit"):
        cascade.rank(question, [words[0], long], long="error")
    assert len(cascade.rank(question, [words[0]], long="error")) == 1


def test_max_tokens_reads_only_the_beginning(cascade, question, long):
    (item,) = cascade.rank(question, [long], max_tokens=30)
    assert item.truncated
    (beginning,) = cascade.rank(question, [long[slice(*item.window)]])
    assert item.raw_score == pytest.approx(beginning.raw_score, abs=1e-5)


def test_groups_with_long_texts_rank_alike_alone_and_together(cascade, question, long, words):
    groups = [(question, [words[1], long]), (words[0], [long, words[2], words[5]])]
    for group, ranking in zip(groups, cascade.rank_many(groups, drop=0.3), strict=True):
        alone = cascade.rank(*group, drop=0.3)
        assert [(item.index, item.window) for item in ranking] == [(item.index, item.window) for item in alone]


def test_a_sentence_without_end_is_divided(cascade, question, words):
    (item,) = cascade.rank(question, [" ".join(words)])
    start, end = item.window
    assert not item.truncated
    assert end - start < len(" ".join(words))


def test_texts_of_any_length_fit_a_ranker_of_words(question, long):
    (item,) = Ranker.load("bm25").rank(question, [long], long="error")
    assert item.window is None


@pytest.mark.parametrize("options", [{"long": "some"}, {"max_tokens": 0}, {"cut": "here"}, {"prior": -1}])
def test_wrong_values_are_rejected(options):
    (name,) = options
    with pytest.raises(CascadaError, match=f"{name} is"):
        Ranker.load("bm25").rank("who?", ["text"], **options)
