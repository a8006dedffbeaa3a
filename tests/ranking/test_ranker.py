"""What every ranker guarantees, whatever its engine."""

import itertools
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType

import numpy as np
import pytest

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.ranking.inputs import PAIRS_AT_ONCE

ODD = [
    "",
    " ",
    "\x00 \x07 \x1b[2J",
    "日本語 русский مرحبا",
    "😀 \ud800",
    "a" * 5000,
    "ba " * 5000,
    "\n\t\r",
    "[SEP] [CLS]",
]


@pytest.fixture(scope="module")
def rankers(cascade_folder, ranker_folder, encoder_folder):
    return {
        "bm25": Ranker.load("bm25"),
        "monolithic": Ranker.load(ranker_folder),
        "cascade": Ranker.load(cascade_folder),
        "cosine": Ranker.load(f"cosine:{encoder_folder}"),
    }


@pytest.fixture(params=["bm25", "monolithic", "cascade", "cosine"])
def ranker(request, rankers):
    return rankers[request.param]


@pytest.fixture
def sentences(words):
    """Forty sentences of one to twelve words."""
    choose = random.Random(5)
    return [" ".join(choose.choices(words, k=choose.randint(1, 12))) for _ in range(40)]


@pytest.fixture
def question(words):
    return f"{words[3]} {words[8]} {words[20]}?"


def summary(ranking):
    return [(item.index, item.raw_score, item.exit, item.truncated) for item in ranking]


def assert_same_scores(first, second):
    """Scores in batches of other sizes may differ in the last bits, which can swap candidates that are that close."""
    assert {item.index for item in first} == {item.index for item in second}
    by_index = {item.index: item for item in second}
    for item in first:
        assert item.raw_score == pytest.approx(by_index[item.index].raw_score, abs=1e-5)
        assert item.exit == by_index[item.index].exit


# What comes out


def test_the_best_is_first_and_every_candidate_is_ranked_once(ranker, question, sentences):
    ranking = ranker.rank(question, sentences)
    assert sorted(item.index for item in ranking) == list(range(40))
    assert all(item.text == sentences[item.index] for item in ranking)
    raw = [item.raw_score for item in ranking]
    assert raw == sorted(raw, reverse=True)
    assert ranking.complete
    assert ranking.relative_cost == 1


def test_scores_lie_between_0_and_1_in_the_order_of_the_raw_scores(ranker, question, sentences):
    scores = [item.score for item in ranker.rank(question, sentences)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_score_gives_the_scores_of_rank_in_the_order_given(ranker, question, sentences):
    scores = ranker.score(question, sentences)
    assert scores.dtype == np.float32
    assert {item.index: item.score for item in ranker.rank(question, sentences)} == dict(enumerate(scores.tolist()))


def test_words_in_common_with_the_question_are_found():
    texts = ["It rained.", "Hamlet is a play by William Shakespeare.", "The sun shone."]
    assert Ranker.load("bm25").rank("Who wrote the play Hamlet?", texts)[0].index == 1


def test_equal_candidates_keep_their_order(ranker, question, words):
    ranking = ranker.rank(question, [words[3]] * 5 + [words[9]] + [words[3]] * 5)
    same = [item.index for item in ranking if item.text == words[3]]
    assert same == sorted(same)


def test_one_candidate_is_ranked(ranker, question):
    (item,) = ranker.rank(question, ["alone"])
    assert (item.index, item.text) == (0, "alone")


def test_texts_of_every_kind_are_ranked(ranker, question):
    ranking = ranker.rank(question, ODD)
    assert {item.index: item.text for item in ranking} == dict(enumerate(ODD))
    assert np.isfinite([item.raw_score for item in ranking]).all()


@pytest.mark.parametrize("asked", ["?", "\x00", "😀", "日本", "\ud800", "who " * 3000])
def test_questions_of_every_kind_are_asked(ranker, asked):
    assert len(ranker.rank(asked, ["yes", "no", ""])) == 3


@pytest.mark.parametrize("kind", ["monolithic", "cascade", "cosine"])
def test_a_text_that_does_not_fit_is_reported(rankers, question, words, kind):
    ranking = rankers[kind].rank(question, ["short", " ".join(words * 5), "", "x" * 100_000], long="first")
    longest = [item.text for item in ranking if item.truncated]
    assert longest == [" ".join(words * 5)], "an endless word is one token in this vocabulary"


@pytest.mark.parametrize("kind", ["bm25", "cascade"])
def test_ten_thousand_candidates_are_ranked(rankers, question, words, kind):
    texts = [f"{words[i % 200]} {words[i * 7 % 200]}" for i in range(10_000)]
    ranking = rankers[kind].rank(question, texts, drop=0.5)
    assert sorted(item.index for item in ranking) == list(range(10_000))


# Documents


def test_mappings_are_kept_whole(ranker, question):
    documents = [{"text": "one", "id": 7}, "two", MappingProxyType({"text": "three"})]
    ranking = ranker.rank(question, documents)
    assert all(item.document is documents[item.index] for item in ranking)
    assert {item.text for item in ranking} == {"one", "two", "three"}


def test_a_list_changed_after_the_call_does_not_change_the_ranking(question):
    def groups():
        texts = ["one"]
        yield question, texts
        texts[:] = ["two", "three"]
        yield question, texts

    assert [len(ranking) for ranking in Ranker.load("bm25").rank_many(groups())] == [1, 2]


def test_top_keeps_the_first(ranker, question, sentences):
    everything = ranker.rank(question, sentences)
    assert ranker.rank(question, sentences, top=3).items == everything.items[:3]
    assert ranker.rank(question, sentences, top=np.int64(3)).items == everything.items[:3]
    assert len(ranker.rank(question, sentences, top=1000)) == 40


def test_min_score_leaves_out_candidates_with_lower_scores(ranker, question, sentences):
    everything = ranker.rank(question, sentences)
    middle = everything[20].score
    ranking = ranker.rank(question, sentences, min_score=middle)
    assert ranking.items == tuple(item for item in everything if item.score >= middle)
    assert 0 < len(ranking) < 40 or everything[-1].score == middle
    assert ranking.relative_cost == everything.relative_cost


def test_min_score_applies_before_top(ranker, question, sentences):
    everything = ranker.rank(question, sentences)
    assert ranker.rank(question, sentences, min_score=0, top=3).items == everything.items[:3]
    assert len(ranker.rank(question, sentences, min_score=np.float32(everything[1].score), top=5)) in range(2, 6)


def test_a_min_score_that_no_candidate_reaches_gives_an_empty_ranking_that_prints(ranker, question, sentences):
    ranking = ranker.rank(question, sentences, min_score=1)
    assert len(ranking) == 0
    outcome = "(no candidates)" if ranking.likely is None else "None of these is likely to be an answer."
    assert str(ranking).splitlines() == [question, outcome]
    assert ranking.likely is (False if ranker.exits[-1] else None)
    assert ranking.to_dict()["items"] == []
    (of_many,) = ranker.rank_many([(question, sentences)], min_score=1)
    assert of_many == ranking


# Many groups


def test_rank_many_ranks_groups_of_any_size_in_order(ranker, words):
    groups = [(words[i], [" ".join(words[j : j + 1 + j % 9]) for j in range(1 + i * 13 % 90)]) for i in range(30)]
    rankings = list(ranker.rank_many(groups, drop=0.3))
    assert [ranking.question for ranking in rankings] == [question for question, _ in groups]
    for (question, texts), ranking in zip(groups, rankings, strict=True):
        assert_same_scores(ranking, ranker.rank(question, texts, drop=0.3))


def test_rank_many_reads_only_as_many_groups_as_it_needs():
    asked = itertools.count()
    groups = ((f"question {next(asked)}", ["yes"] * 100) for _ in range(1000))
    rankings = Ranker.load("bm25").rank_many(groups)
    assert next(asked) == 0
    assert next(rankings).question == "question 1"
    assert next(asked) <= PAIRS_AT_ONCE // 100 + 3


def test_rank_many_of_nothing_is_nothing(ranker):
    assert list(ranker.rank_many([])) == []


def test_eight_threads_get_what_one_gets(ranker, words):
    jobs = [(words[i], [" ".join(words[j : j + 1 + (i + j) % 12]) for j in range(20)]) for i in range(24)]
    alone = [summary(ranker.rank(*job)) for job in jobs]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda job: summary(ranker.rank(*job)), jobs * 3)) == alone * 3


# Input that cannot be ranked raises an error of one sentence

QUESTIONS = {
    "": "The question is empty.",
    " \n\t": "The question is empty.",
    None: "The question is NoneType; it must be a string.",
    7: "The question is int; it must be a string.",
    b"who": "The question is bytes; it must be a string.",
}


@pytest.mark.parametrize(("asked", "sentence"), QUESTIONS.items(), ids=repr)
def test_a_wrong_question_is_rejected(ranker, asked, sentence):
    for method in (ranker.rank, ranker.score):
        with pytest.raises(ValueError, match=sentence):
            method(asked, ["text"])


CANDIDATES = {
    "none": ([], "There are no candidates to rank"),
    "an empty tuple": ((), "There are no candidates to rank"),
    "a bare string": ("text", "The candidates are str; they must be a list of strings"),
    "bytes": (b"text", "The candidates are bytes"),
    "a mapping": ({"text": "x"}, "The candidates are dict"),
    "a set": ({"text"}, "The candidates are set"),
    "a generator": ((text for text in ["text"]), "The candidates are generator"),
    "nothing": (None, "The candidates are NoneType"),
    "a number among them": (["text", 3], "A candidate is int; it must be a string"),
    "bytes among them": ([b"text"], "A candidate is bytes; it must be a string"),
    "nothing among them": ([None], "A candidate is NoneType; it must be a string"),
    "a list among them": ([["text"]], "A candidate is list; it must be a string"),
    "a mapping without a text": ([{"body": "x"}], 'A candidate is a mapping whose "text" is NoneType'),
    "a mapping with a number": ([{"text": 3}], 'A candidate is a mapping whose "text" is int'),
}


@pytest.mark.parametrize(("candidates", "sentence"), CANDIDATES.values(), ids=CANDIDATES)
def test_wrong_candidates_are_rejected(candidates, sentence):
    ranker = Ranker.load("bm25")
    for method in (ranker.rank, ranker.score):
        with pytest.raises(ValueError, match=sentence):
            method("who?", candidates)


@pytest.mark.parametrize("top", [0, -1, 2.5, "3"])
def test_a_wrong_top_is_rejected(ranker, top):
    with pytest.raises(CascadaError, match=r"top is .* whole number from 1"):
        ranker.rank("who?", ["text"], top=top)


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf"), "0.5", True])
def test_a_min_score_that_is_not_a_number_from_0_to_1_is_rejected(score):
    ranker = Ranker.load("bm25")
    with pytest.raises(CascadaError, match=r"min_score is .*; it must be a number from 0 to 1"):
        ranker.rank("who?", ["text"], min_score=score)
    with pytest.raises(CascadaError, match="min_score is"):
        ranker.rank_many([("who?", ["text"])], min_score=score)


def test_the_plan_is_read_only_and_replaced_in_a_copy(rankers):
    ranker = rankers["cascade"]
    with pytest.raises(AttributeError):
        ranker.plan = (1,)
    copy = ranker.with_plan((1,))
    assert (copy.plan, copy.exits, ranker.plan) == ((1,), ranker.exits, (0,))


@pytest.mark.parametrize("group", ["who?", ("who?",), ("who?", ["text"], 3), 5])
def test_a_wrong_group_is_rejected(group):
    with pytest.raises(CascadaError, match=r"A group is .*; it must be a question with its candidates"):
        list(Ranker.load("bm25").rank_many([group]))


def test_more_ratios_than_exits_are_rejected(rankers):
    with pytest.raises(CascadaError, match="drop has 2 ratios, but this ranker drops candidates at 1 exits"):
        rankers["cascade"].rank("who?", ["text"], drop=[0.1, 0.2])


# Loading


def test_a_ranker_is_loaded_by_its_path_as_by_its_name(cascade_folder, question, sentences):
    by_path, by_name = Ranker.load(cascade_folder), Ranker.load(str(cascade_folder))
    assert summary(by_path.rank(question, sentences)) == summary(by_name.rank(question, sentences))


def test_names_of_other_things_are_rejected(tmp_path, encoder_folder):
    with pytest.raises(CascadaError, match=r"There is no folder .*nowhere"):
        Ranker.load(str(tmp_path / "nowhere"))
    with pytest.raises(CascadaError, match=r"is not a ranker: it has no cascada\.json"):
        Ranker.load(str(encoder_folder))
    with pytest.raises(CascadaError, match=r"cosine:.*nowhere needs a folder with an encoder and its tokenizer\.json"):
        Ranker.load(f"cosine:{tmp_path / 'nowhere'}")


def test_a_ranker_without_its_tokenizer(cascade_folder, tmp_path):
    folder = shutil.copytree(cascade_folder, tmp_path / "ranker")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(CascadaError, match=r"tokenizer\.json cannot be read as a tokenizer"):
        Ranker.load(folder)
