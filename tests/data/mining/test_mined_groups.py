import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascada.core.errors import CascadaError, DataError
from cascada.data import Candidate, Group
from cascada.data.mining import Guards, Miner, NegativeCounts, excluding, mine

OFF = Guards(jaccard=1, containment=1, evidence=1)


def pair(question, sentence, identifier=None):
    return Group(question, (Candidate(sentence, 1, identifier),), identifier)


def rivers(articles=4, lines=6):
    """Each question has words of its own sentence, and one of all sentences about its river."""
    return [
        pair(
            f"what is fact{line} of river{article}?",
            f"river{article} has fact{line} x{article}y{line}",
            f"{article}/{line}",
        )
        for article in range(articles)
        for line in range(lines)
    ]


def negatives(group):
    return [candidate for candidate in group.candidates if candidate.label == 0]


def articles_of(candidates):
    return [candidate.id.split("/")[0] for candidate in candidates]


@pytest.mark.parametrize(("hard", "same", "other"), [(2, 1, 1), (3, 0, 0), (0, 2, 0), (0, 0, 5), (1, 2, 3)])
def test_every_question_gets_the_negatives_of_each_kind_that_were_asked_for(hard, same, other):
    miner = Miner(rivers(), NegativeCounts(hard, same, other), guards=OFF, seed=1)
    groups = list(miner)
    assert [len(negatives(group)) for group in groups] == [hard + same + other] * 24
    assert miner.report.to_dict()["negatives"] == {"kept": 0, "hard": 24 * hard, "same": 24 * same, "other": 24 * other}
    assert miner.report.short == 0


def test_hard_negatives_are_the_best_by_bm25_that_are_not_correct():
    data = [
        pair("who wrote hamlet in london?", "shakespeare did"),
        pair("when?", "hamlet is long"),
        pair("where?", "hamlet was played in london"),
        pair("why?", "nobody knows"),
    ]
    first = mine(data, NegativeCounts(hard=2, same=0, other=0), guards=OFF)[0]
    assert {candidate.text for candidate in negatives(first)} == {"hamlet was played in london", "hamlet is long"}


def test_the_best_can_be_skipped_and_correct_ones_do_not_count_as_skipped():
    data = [pair("hamlet london", "hamlet of london"), pair("a", "hamlet london"), pair("b", "hamlet")]
    (found,) = negatives(mine(data, NegativeCounts(hard=1, same=0, other=0, skip=1), guards=OFF)[0])
    assert found.text == "hamlet"


def test_same_and_other_keep_to_their_side_of_the_article():
    for group in mine(rivers(), NegativeCounts(hard=0, same=3, other=0), guards=OFF):
        assert set(articles_of(group.candidates)) == {group.id.split("/")[0]}
    for group in mine(rivers(), NegativeCounts(hard=0, same=0, other=3), guards=OFF):
        assert group.id.split("/")[0] not in articles_of(negatives(group))


def test_without_articles_the_neighbours_stand_for_them():
    data = [pair(f"q{number}", f"s{number}") for number in range(300)]
    near = [(group, one) for group in mine(data, NegativeCounts(0, 2, 0)) for one in negatives(group)]
    far = [(group, one) for group in mine(data, NegativeCounts(0, 0, 2)) for one in negatives(group)]
    assert all(abs(int(one.text[1:]) - int(group.question[1:])) <= 50 for group, one in near)
    assert all(abs(int(one.text[1:]) - int(group.question[1:])) > 50 for group, one in far)


WORDS = st.lists(st.sampled_from("abcde"), min_size=1, max_size=4).map(" ".join)
LABELLED = st.lists(st.tuples(WORDS, st.sampled_from([0, 1, None])), max_size=5)
DATA = st.lists(st.tuples(WORDS, LABELLED), max_size=8)


@settings(max_examples=50)
@given(DATA, st.integers(0, 5), st.booleans())
def test_no_correct_sentence_of_a_question_is_ever_one_of_its_negatives(data, seed, keep):
    groups = [Group(question, tuple(Candidate(*one) for one in candidates)) for question, candidates in data]
    correct = {(group.question, one.text) for group in groups for one in group.candidates if one.label}
    for group in mine(groups, NegativeCounts(2, 2, 2, keep_negatives=keep), seed=seed):
        assert correct.isdisjoint((group.question, one.text) for one in negatives(group))
        assert sum(group.labels)
        assert len({one.id for one in group.candidates}) == len(group.candidates)
        assert len(set(group.texts)) == len(group.candidates)


def test_what_answers_a_question_elsewhere_is_no_negative_where_it_is_asked_again():
    data = [pair("Who won?", "denver did"), pair("who won ?", "the broncos won"), pair("why?", "they won")]
    miner = Miner(data, NegativeCounts(hard=2, same=2, other=2), guards=OFF)
    assert [{one.text for one in negatives(group)} for group in miner][:2] == [{"they won"}, {"they won"}]
    assert miner.report.rejected["correct"] > 0


@pytest.mark.parametrize(
    ("sentence", "guards"),
    [
        ("It won: Denver, the Broncos' city!", Guards(1, 1, 1)),
        ("denver the broncos city won", Guards(0.6, 1, 1)),
        ("denver won it", Guards(1, 0.75, 1)),
    ],
    ids=["the same words", "jaccard", "containment"],
)
def test_near_duplicates_of_a_correct_sentence_are_rejected(sentence, guards):
    data = [pair("who won it?", "denver the broncos city won it"), pair("x?", sentence), pair("y?", "it won nothing")]
    miner = Miner(data, NegativeCounts(hard=2, same=0, other=0), guards=guards)
    assert [one.text for one in negatives(next(iter(miner)))] == ["it won nothing"]
    assert miner.report.rejected["duplicate"] == 1


def test_the_evidence_guard_rejects_what_tells_the_same():
    data = [
        pair("who won the game?", "denver broncos won the game"),
        pair("x?", "a game that the broncos from denver took"),
        pair("y?", "the game was long"),
    ]
    miner = Miner(data, NegativeCounts(hard=2, same=0, other=0), guards=Guards(1, 1, 0.5))
    assert [one.text for one in negatives(next(iter(miner)))] == ["the game was long"]
    assert miner.report.rejected["evidence"] == 1


def test_sentences_with_the_answer_are_rejected_where_it_is_known():
    data = [
        pair("who won?", "denver won", "a"),
        pair("won x?", "fans from Denver won", "b"),
        pair("y?", "luck won", "c"),
    ]
    miner = Miner(data, NegativeCounts(hard=2, same=0, other=0), guards=OFF, answers={"a": ["Denver"]})
    first, second, _ = miner
    assert [one.text for one in negatives(first)] == ["luck won"]
    assert len(negatives(second)) == 2
    assert miner.report.rejected["answer"] == 1


def test_negatives_of_the_data_are_kept_on_request_and_mined_ones_come_on_top():
    data = [Group("who?", (Candidate("he", 1), Candidate("she", 0), Candidate("who knows"))), pair("b", "who is it")]
    assert {one.text for one in negatives(mine(data, NegativeCounts(1, 0, 0), guards=OFF)[0])} < {
        "she",
        "who knows",
        "who is it",
    }
    kept = mine(data, NegativeCounts(2, 0, 0, keep_negatives=True), guards=OFF)[0]
    assert {one.text for one in negatives(kept)} == {"she", "who knows", "who is it"}


def test_ids_that_are_used_again_in_another_question_are_made_different():
    data = [Group(f"who is {name}?", (Candidate(f"{name} is", 1, "a"),), name) for name in ("ada", "bob", "eve")]
    found = mine(data, NegativeCounts(0, 2, 0), guards=OFF)
    assert [{one.text: one.id for one in group.candidates} for group in found] == [
        {"ada is": "a", "bob is": "bob-a", "eve is": "eve-a"}
    ] * 3


def test_fewer_sentences_than_asked_for_are_all_taken_and_reported():
    miner = Miner(rivers(1, 3), NegativeCounts(5, 5, 5), guards=OFF)
    assert [len(negatives(group)) for group in miner] == [2, 2, 2]
    assert miner.report.short == 3


def test_a_question_that_comes_twice_with_the_same_sentence_stays_once():
    miner = Miner([*rivers(), pair("What is fact0 of river0", "river0 has fact0 x0y0")], guards=OFF)
    assert len(list(miner)) == 24
    assert miner.report.left_out == {"repeated": 1}


def test_questions_without_a_correct_candidate_are_left_out_and_their_sentences_used():
    data = [Group("why?", (Candidate("because river0", 0),)), *rivers(1, 2)]
    miner = Miner(data, NegativeCounts(2, 0, 0), guards=OFF)
    groups = list(miner)
    assert miner.report.left_out == {"no correct candidate": 1}
    assert "because river0" in groups[0].texts


def test_a_seed_gives_the_same_groups_again_and_another_seed_others():
    once, again, other = (mine(rivers(), NegativeCounts(1, 2, 2), seed=seed) for seed in (1, 1, 2))
    assert once == again != other


def test_the_order_of_candidates_does_not_tell_the_correct_one():
    places = {group.labels.index(1) for group in mine(rivers(), guards=OFF)}
    assert places == {0, 1, 2, 3, 4}


def test_groups_do_not_depend_on_the_hash_seed_of_the_process():
    code = (
        "from cascada.data import Candidate, Group; from cascada.data.mining import mine, NegativeCounts\n"
        "said = [f'w{n % 7} v{n % 5} u{n % 3} t{n}' for n in range(40)]\n"
        "data = [Group(f'is {text[:5]} so?', (Candidate(text, 1),)) for text in said]\n"
        "print(mine(data, NegativeCounts(3, 2, 2), seed=3))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(printed) == 1


def test_articles_can_be_left_out():
    assert {group.id.split("/")[0] for group in excluding(rivers(), ["0", "2", "nowhere"])} == {"1", "3"}


def test_leaving_out_articles_needs_articles():
    with pytest.raises(DataError, match="question 1 has a sentence without an article"):
        list(excluding([pair("who?", "he", "7")], ["A"]))


@pytest.mark.parametrize(
    ("numbers", "sentence"), [((-1, 1, 1), "number hard must not be below 0"), ((0, 0, 0), "Nothing to mine")]
)
def test_numbers_that_make_no_sense_are_rejected(numbers, sentence):
    with pytest.raises(CascadaError, match=sentence):
        NegativeCounts(*numbers)
