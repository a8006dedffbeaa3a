"""`Ranker.prune`, with the bundled model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascada import CascadaError, Ranker
from cascada.ranking.prune import RELATIVE

QUESTION = "When was the Eiffel Tower completed?"
EIFFEL = (
    "The Eiffel Tower is a wrought-iron tower in Paris. It was completed on 31 March 1889 for the World's Fair. "
    "The city has many bakeries. Rain is frequent in autumn."
)
CAKE = "Beat the eggs with sugar. Fold in the flour and bake it for half an hour."
PASSAGES = [CAKE, EIFFEL]


@pytest.fixture(scope="module")
def mini():
    return Ranker.load()


@pytest.fixture(scope="module")
def pruned(mini):
    return mini.prune(QUESTION, PASSAGES)


def test_what_answers_is_kept_and_the_rest_is_cut(pruned):
    cake, eiffel = pruned
    assert (cake.text, cake.kept, cake.share_cut) == ("", (), 1.0)
    assert "31 March 1889" in eiffel.text
    assert "bakeries" not in eiffel.text
    assert pruned.likely is True
    assert pruned.complete is True


def test_every_sentence_is_told_with_its_place_whether_it_is_kept_or_cut(pruned):
    for passage, text in zip(pruned, PASSAGES, strict=True):
        assert sorted([*passage.kept, *passage.cut], key=lambda one: one.start) == list(passage.sentences)
        assert all(text[one.start : one.end] == one.text for one in passage.sentences)
    lengths = [(len(one.text), one.kept) for passage in pruned for one in passage.sentences]
    cut = sum(length for length, kept in lengths if not kept)
    assert pruned.share_cut == pytest.approx(cut / sum(length for length, _ in lengths))


def test_a_pronoun_keeps_the_sentence_that_it_refers_to(mini):
    (passage,) = mini.prune(QUESTION, [EIFFEL], min_relative_score=1.0)
    assert [one.text.split()[0] for one in passage.kept] == ["The", "It"]
    (alone,) = mini.prune(QUESTION, [EIFFEL.replace("It was", "Work was")], min_relative_score=1.0)
    assert [one.text.split()[0] for one in alone.kept] == ["Work"]


def test_thresholds_are_relative_to_the_best_sentence_and_absolute(mini):
    everything = mini.prune(QUESTION, PASSAGES, min_relative_score=0)
    scores = [one.score for passage in everything for one in passage.sentences]
    assert everything.share_cut == 0
    kept = {one.text for passage in mini.prune(QUESTION, PASSAGES) for one in passage.kept}
    over = {one.text for passage in everything for one in passage.kept if one.score >= RELATIVE * max(scores)}
    assert over <= kept
    nothing = mini.prune(QUESTION, PASSAGES, min_score=1.0)
    assert (nothing.share_cut, nothing.likely) == (1.0, False)


def test_nothing_answers_is_said(mini):
    result = mini.prune("Who won the 1998 football world cup?", PASSAGES)
    assert result.likely is False
    assert str(result).splitlines()[1] == "Nothing here is likely to be an answer."


def test_a_budget_holds_over_all_passages_and_the_order_stays(mini):
    other = "A guide says so. The Eiffel Tower was finished in 1889."
    budget = 30
    result = mini.prune(QUESTION, [other, EIFFEL], budget=budget)
    kept = [one for passage in result for one in passage.kept]
    assert 0 < sum(mini.count_tokens(one.text) for one in kept) <= budget
    assert "finished in 1889" in result[0].text
    all_of_it = mini.prune(QUESTION, [other, EIFFEL], budget=10_000)
    assert [passage.text for passage in all_of_it] == [other, EIFFEL]
    assert mini.prune(QUESTION, [other, EIFFEL], budget=1).share_cut == 1.0


def test_a_sentence_whose_antecedent_does_not_fit_the_budget_is_kept_alone(mini):
    (passage,) = mini.prune(QUESTION, [EIFFEL], budget=mini.count_tokens(EIFFEL.split(". ")[1] + "."))
    assert [one.text.split()[0] for one in passage.kept] == ["It"]


def test_gaps_are_closed_and_line_breaks_stay():
    text = "Hamlet is a play.\n\nIt rained all day. Hamlet ends badly.  Hamlet is long."
    (passage,) = Ranker.load("bm25").prune("hamlet", [text], min_relative_score=0.1)
    assert passage.text == "Hamlet is a play.\nHamlet ends badly.  Hamlet is long."


def test_a_repeated_question_is_not_ranked(mini):
    (passage,) = mini.prune("who wrote hamlet?", ["Who wrote Hamlet? William Shakespeare wrote it around 1600."])
    assert [(one.score is None, one.kept) for one in passage.sentences] == [(True, False), (False, True)]


def test_a_passage_may_bring_its_title(mini):
    texts = [
        {"text": "It was completed in 1889.", "context": "The Eiffel Tower", "id": 7},
        {"text": "It was completed in 1889.", "context": "A bridge in Ohio"},
    ]
    first, second = mini.prune(QUESTION, texts, min_relative_score=0)
    assert first.sentences[0].score > second.sentences[0].score
    assert first.document["id"] == 7


def test_what_exits_drop_is_cut(mini):
    many = [f"The tower number {number} was completed in 18{number}." for number in range(10, 90)]
    result = mini.prune(QUESTION, many, keep=[5], min_relative_score=0)
    assert sum(len(passage.kept) for passage in result) == 5
    assert result.relative_cost < 0.2
    filled = mini.prune(QUESTION, many, keep=[5], budget=100_000)
    assert filled.share_cut == 0


def test_a_deadline_that_has_passed_is_told(mini):
    result = mini.prune(QUESTION, PASSAGES, deadline_ms=0.001)
    assert result.complete is False
    assert "1889" in result[1].text


def test_rankers_without_a_tokenizer_count_words():
    bm25 = Ranker.load("bm25")
    result = bm25.prune("who wrote hamlet?", ["Shakespeare wrote Hamlet. It rained."], budget=3)
    assert (result[0].text, result.likely) == ("Shakespeare wrote Hamlet.", None)


def test_blank_passages_and_passages_without_candidates(mini):
    result = mini.prune("who?", ["", " \n", "# A heading"])
    assert [(passage.text, passage.share_cut) for passage in result] == [("", 0.0), ("", 0.0), ("", 1.0)]
    assert result.likely is False


def test_a_huge_passage_is_split_like_any_other(mini):
    filler = "The weather was mild and the harvest was good. " * 2000
    (passage,) = mini.prune(QUESTION, [filler + EIFFEL], keep=[60])
    assert "31 March 1889" in passage.text
    assert passage.share_cut > 0.9


@given(st.lists(st.text(max_size=80), min_size=1, max_size=4), st.integers(1, 40))
def test_any_text_can_be_pruned(texts, budget):
    result = Ranker.load("bm25").prune("who wrote hamlet?", texts, budget=budget)
    for passage, text in zip(result, texts, strict=True):
        assert all(text[one.start : one.end] == one.text for one in passage.sentences)
        assert all(one.text in passage.text for one in passage.kept)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"question": " "}, "The question is empty."),
        ({"question": 3}, "The question is int; it must be a string."),
        ({"passages": []}, "There are no passages to prune."),
        ({"passages": "one text"}, "The passages are str; they must be a list of strings."),
        ({"passages": ["a", 3]}, 'Passage 1 is int; it must be a string or have one under "text".'),
        ({"passages": [{"id": 1}]}, 'Passage 0 is a mapping whose "text" is NoneType'),
        ({"passages": [{"text": "a", "context": 3}]}, 'The "context" of passage 0 is int; it must be a string.'),
        ({"min_score": 2}, "min_score is 2; it must be a number from 0 to 1."),
        ({"min_relative_score": float("nan")}, "min_relative_score is nan; it must be a number from 0 to 1."),
        ({"budget": 0}, "budget is 0; it must be a whole number from 1."),
        ({"budget": True}, "budget is True; it must be a whole number from 1."),
        ({"language": "english"}, "language is 'english'; it must be a code of two or three letters."),
        ({"drop": 1.5}, "drop is 1.5"),
    ],
)
def test_a_mistake_is_one_sentence(mini, arguments, sentence):
    with pytest.raises(CascadaError) as caught:
        mini.prune(**({"question": "who?", "passages": ["a"]} | arguments))
    assert str(caught.value).startswith(sentence)


def test_numbers_of_numpy_are_numbers(mini):
    assert mini.prune(QUESTION, PASSAGES, budget=np.int64(40), min_score=np.float32(0.1)).share_cut > 0
