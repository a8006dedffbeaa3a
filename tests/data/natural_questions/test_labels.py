"""Which sentence of a page gets which of the four labels (TANDA, Table 1)."""

import pytest
from nq_records import LYRA, annotation, answered, original, record

from cascada.data.natural_questions import Skipped
from cascada.data.natural_questions.labels import labelled

MONT_BLANC = (
    "<H1> Mont Blanc </H1> "
    "<P> Mont Blanc ( Italian : Monte Bianco ) is the highest mountain in the Alps . "
    "It rises 4,808 m ( 15,774 ft ) above sea level . "
    "The mountain stands in a range called the Graian Alps . </P> "
    "<P> The Mont Blanc massif is popular for hiking and skiing . "
    "Three towns surround Mont Blanc . "
    "A cable car crosses the range from Courmayeur to Chamonix . </P>"
)
FIRST_PARAGRAPH = MONT_BLANC[MONT_BLANC.index("<P>") : MONT_BLANC.index("</P>") + 4]


def grades(parsed_record):
    group = labelled(parsed_record)
    return {candidate.text: candidate.grade for candidate in group.candidates}


def test_the_papers_worked_example(parsed):
    """Figure 3: the answer is annotated in the long answer's first sentence and occurs by accident elsewhere."""
    marked = annotation(MONT_BLANC, FIRST_PARAGRAPH, "Mont Blanc ( Italian")
    marked["short_answers"][0]["end_token"] -= 2
    found = grades(parsed(record("what is the highest mountain in france called", MONT_BLANC, marked)))
    assert list(found.values()) == [2, 4, 3, 3, 2, 2, 1]
    assert [text[:14] for text, grade in found.items() if grade == 4] == ["Mont Blanc ( I"]


def test_only_label_four_is_positive(parsed):
    group = labelled(parsed(answered()))
    assert [candidate.grade for candidate in group.candidates] == [1, 3, 4, 2, 1]
    assert group.labels == (0, 0, 1, 0, 0)
    assert (group.id, group.question) == ("7", "what does lyra hold")


def test_the_answers_words_elsewhere_in_the_long_answer_are_not_annotated(parsed):
    page = "<P> Ada wrote it . We know Ada . </P>"
    assert list(grades(parsed(record("who", page, annotation(page, page, "Ada wrote")))).values()) == [4, 3]


def test_every_short_answer_counts_by_itself(parsed):
    page = "<P> Ada came . Bob left . Cy slept . </P> <P> Ada and Bob met . Bob won . Cy lost . </P>"
    marked = annotation(page, "<P> Ada came . Bob left . Cy slept . </P>", "Ada", "Bob")
    assert list(grades(parsed(record("who", page, marked))).values()) == [4, 4, 3, 2, 2, 1]


def test_what_any_annotator_marked_counts(parsed):
    page = "<P> Ada came . </P> <P> Bob left . We knew . </P> <P> Nobody else . </P>"
    one = annotation(page, "<P> Ada came . </P>", "Ada")
    other = annotation(page, "<P> Bob left . We knew . </P>", "Bob")
    found = grades(parsed(record("who", page, annotation(page), one, other, annotation(page), annotation(page))))
    assert list(found.values()) == [4, 4, 3, 1]


def test_a_short_answer_across_two_sentences_makes_both_positive(parsed):
    page = "<Ul> <Li> red </Li> <Li> green </Li> <Li> blue </Li> </Ul>"
    marked = annotation(page, page, "green </Li> <Li> blue")
    assert grades(parsed(record("which colours", page, marked))) == {"red": 3, "green": 4, "blue": 4}


@pytest.mark.parametrize(
    ("elsewhere", "grade"),
    [("It was 3 .", 2), ("It was 1963 .", 1), ("It was 3.5 .", 1), ("3", 2)],
)
def test_the_string_is_found_as_whole_tokens(parsed, elsewhere, grade):
    page = f"<P> There were 3 . </P> <P> {elsewhere} </P>"
    found = grades(parsed(record("how many", page, annotation(page, "<P> There were 3 . </P>", "3"))))
    assert found[elsewhere] == grade


def test_the_string_is_found_with_its_capital_letters(parsed):
    page = "<P> It was May . </P> <P> It may be . </P>"
    assert grades(parsed(record("when", page, annotation(page, "<P> It was May . </P>", "May"))))["It may be ."] == 1


def test_a_string_across_a_rows_cells_is_found(parsed):
    page = "<P> Won by Ada Day . </P> <Table> <Tr> <Td> Ada </Td> <Td> Day </Td> </Tr> </Table>"
    assert grades(parsed(record("who", page, annotation(page, "<P> Won by Ada Day . </P>", "Ada Day"))))["Ada Day"] == 2


@pytest.mark.parametrize(
    ("marked", "reason"),
    [
        (annotation(LYRA), Skipped.NO_LONG_ANSWER),
        (annotation(LYRA, "<P> Vega is bright ."), Skipped.NO_SHORT_ANSWER),
        (annotation(LYRA, "<P> Vega is bright .", yes_no="YES"), Skipped.YES_OR_NO),
        (annotation(LYRA, "<P> Vega is bright .", "Lyra"), Skipped.NO_ANSWER_SENTENCE),
        (annotation(LYRA, "<P> Vega is bright .", "</P> <P>"), Skipped.NO_ANSWER_SENTENCE),
    ],
)
def test_a_question_without_an_answer_sentence_is_skipped(parsed, marked, reason):
    assert labelled(parsed(record("what", LYRA, marked))) is reason


def test_both_releases_give_the_same_group(parsed):
    page = '<Table> <Tr> <Th_colspan="2"> Vega < 1 </Th> </Tr> <Tr> <Td> a </Td> <Td> b </Td> </Tr> </Table>'
    simplified = record("what is vega", page, annotation(page, page, "b"))
    group = labelled(parsed(simplified))
    assert labelled(parsed(original(simplified))) == group
    assert [(candidate.text, candidate.grade) for candidate in group.candidates] == [("Vega < 1", 3), ("a b", 4)]
