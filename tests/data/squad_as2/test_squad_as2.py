"""Questions of SQuAD with the sentences of their articles, labelled from 1 to 4."""

import random

import pytest

from cascada.core.errors import CascadaError
from cascada.data.spans import MarkedAnswer, Paragraph, Question
from cascada.data.squad_as2 import NegativeChoice, SquadAS2, choose_negatives

VEGA = "Lyra is small. It holds Vega, a star. Vega is bright."
HARP = "Lyra means harp. (Vega) rose early. Las Vegas is a town. We call it vega."


def asked(text, *answers, identifier="q", question="What does Lyra hold?"):
    marked = tuple(MarkedAnswer(answer, text.index(answer)) for answer in answers)
    return Question(identifier, question, marked)


def lyra(*answers):
    return [Paragraph("Lyra", VEGA, (asked(VEGA, *answers),)), Paragraph("Lyra", HARP, ())]


def article(title, questions):
    text = " ".join(f"{title} has item{number} here." for number in range(30))
    names = [f"item{number}" for number in range(questions)]
    return Paragraph(title, text, tuple(asked(text, name, identifier=f"{title}-{name}") for name in names))


def grades(groups):
    return [candidate.grade for group in groups for candidate in group.candidates]


def test_the_four_labels():
    """Marked, the same paragraph, the answer's words elsewhere, and neither: not in `Vegas` nor in another case."""
    (group,) = SquadAS2(lyra("Vega"))
    assert grades([group]) == [3, 4, 3, 1, 2, 1, 1]
    assert group.labels == (0, 1, 0, 0, 0, 0, 0)
    assert (group.id, group.candidates[1].id, group.candidates[4].text) == ("q", "Lyra/2", "(Vega) rose early.")


def test_what_any_annotator_marked_counts():
    assert grades(SquadAS2(lyra("Vega", "bright")))[:3] == [3, 4, 4]


def test_an_answer_across_sentences_marks_all_of_them():
    assert grades(SquadAS2(lyra("small. It holds Vega")))[:3] == [4, 4, 3]


def test_an_answer_without_words_occurs_nowhere_else():
    text = "It cost 5 $ then. Now it is more."
    groups = SquadAS2([Paragraph("Cost", text, (asked(text, "$"),)), Paragraph("Cost", "A $ is a dollar.", ())])
    assert grades(groups) == [4, 3, 1]


def test_paragraphs_of_a_title_are_one_article_wherever_they_stand():
    first, second = lyra("Vega")
    (group,) = SquadAS2([first, Paragraph("Aries", "A ram. It runs.", ()), second])
    assert len(group.candidates) == 7


def test_a_question_without_an_answer_is_no_question():
    unanswered = Paragraph("Lyra", HARP, (asked(HARP, identifier="other"),))
    assert [group.id for group in SquadAS2([*lyra("Vega"), unanswered])] == ["q"]
    with pytest.raises(CascadaError, match="no question with a marked answer"):
        SquadAS2([unanswered])


def test_few_questions_come_from_many_articles():
    paragraphs = [article(f"T{number}", 20) for number in range(12)]
    drawn = [group.id for group in SquadAS2(paragraphs, questions=12, seed=5)]
    assert {identifier.split("-")[0] for identifier in drawn} == {f"T{number}" for number in range(12)}
    assert len(set(drawn)) == 12
    assert drawn == [group.id for group in SquadAS2(paragraphs, questions=12, seed=5)]
    assert drawn != [group.id for group in SquadAS2(paragraphs, questions=12, seed=6)]


def test_negatives_are_some_of_each_label_with_the_hard_ones_first():
    text = "Lyra holds Vega. Lyra is small. A word. What does Lyra do?"
    other = "Vega is a star. What does Vega hold? Nothing else is here. What does Lyra not hold? More. And more."
    paragraphs = [Paragraph("Lyra", text, (asked(text, "Vega"),)), Paragraph("Lyra", other, ())]
    (group,) = SquadAS2(paragraphs, negatives=NegativeChoice(3, hard=1))
    assert [(one.grade, one.text) for one in group.candidates] == [
        (4, "Lyra holds Vega."),
        (3, "What does Lyra do?"),
        (2, "What does Vega hold?"),
        (1, "What does Lyra not hold?"),
    ]
    (group,) = SquadAS2(paragraphs, negatives=NegativeChoice(8, labels=(2, 3)))
    assert grades([group]) == [4, 3, 3, 3, 2, 2]


def test_a_question_has_the_same_negatives_in_every_sample():
    paragraphs = [article(f"T{number}", 10) for number in range(6)]
    choice = NegativeChoice(5, hard=0.4)
    everything = {group.id: group for group in SquadAS2(paragraphs, negatives=choice)}
    sample = list(SquadAS2(paragraphs, negatives=choice, questions=9))
    assert all(everything[group.id] == group for group in sample)
    assert {len(group.candidates) for group in sample} == {6}


def test_random_negatives_come_from_all_of_a_label():
    (group, *_) = SquadAS2([article("T", 3)])
    scores = [random.Random(0).random() for _ in group.candidates]
    drawn = {
        one.id
        for seed in range(200)
        for one in choose_negatives(group, NegativeChoice(2, hard=0), scores, seed=seed).candidates
    }
    assert len(drawn) == 30


@pytest.mark.parametrize(
    ("choice", "problem"),
    [((0,), "at least one"), ((3, (4,)), "1, 2 and 3"), ((3, ()), "1, 2 and 3"), ((3, (1,), 1.5), "between 0 and 1")],
)
def test_choices_that_make_no_sense_are_rejected(choice, problem):
    with pytest.raises(CascadaError, match=problem):
        NegativeChoice(*choice)
