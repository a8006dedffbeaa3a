import json

import pytest

from cascada.core.errors import CascadaError, DataError
from cascada.data.mining import Guards, squad_answers
from cascada.data.mining.guards import holds_answer


def near(sentence, positive, **thresholds):
    return Guards(**thresholds).near_duplicate(sentence.split(), positive.split())


def test_the_same_words_in_another_order_are_a_duplicate_whatever_the_thresholds():
    assert near("a b c d", "d c b a", jaccard=1, containment=1)


@pytest.mark.parametrize(("other", "rejected"), [("a b c x", True), ("a b x y", False)])
def test_jaccard_counts_the_common_words_among_all(other, rejected):
    assert near("a b c d", other, jaccard=0.6, containment=1) is rejected  # 3 of 5, 2 of 6


@pytest.mark.parametrize(("part", "rejected"), [("a b c", True), ("a b x", False)])
def test_containment_counts_them_in_the_shorter_sentence(part, rejected):
    assert near(part, "a b c d e f g h i j", jaccard=1, containment=0.75) is rejected


def test_evidence_is_what_the_correct_sentence_says_and_the_question_does_not():
    idf = {"who": 1.0, "wrote": 1.0, "hamlet": 2.0, "shakespeare": 3.0, "in": 0.5, "london": 1.5}.get
    positive, question = ["shakespeare", "wrote", "hamlet", "in", "london"], ["who", "wrote", "hamlet"]

    def repeats(sentence, threshold):
        return Guards(evidence=threshold).repeats_evidence(sentence.split(), positive, question, idf)

    assert repeats("shakespeare was here", 0.6)  # 3 of 3 + 0.5 + 1.5
    assert not repeats("shakespeare was here", 0.61)
    assert not repeats("who wrote hamlet again", 0.1)
    assert not repeats("shakespeare wrote it in london", 1)


def test_a_correct_sentence_that_says_nothing_new_has_no_evidence():
    assert not Guards().repeats_evidence(["who"], ["who"], ["who"], lambda word: 1.0)


@pytest.mark.parametrize(
    ("sentence", "held"),
    [
        ("It was the Denver Broncos.", True),
        ("it was the denver-broncos", True),
        ("Denver has the Broncos.", False),
        ("Broncosaurus denver broncosaurus", False),
    ],
)
def test_an_answer_is_held_as_whole_words_in_sequence(sentence, held):
    assert holds_answer(sentence, ["Denver Broncos"]) is held


def test_an_answer_without_words_is_held_nowhere():
    assert not holds_answer("a – b", ["–", ""])


def test_answers_of_a_squad_file_stand_under_the_ids_of_its_questions(tmp_path):
    marked = [{"answer_start": start, "text": text} for start, text in ((0, "x"), (2, "y"), (4, "x"))]
    content = {"context": "x y x", "qas": [{"id": "a", "question": "q", "answers": marked}]}
    (tmp_path / "s.json").write_text(json.dumps({"data": [{"paragraphs": [content]}]}))
    assert squad_answers(tmp_path / "s.json") == {"a": ("x", "y")}
    del marked[0]["text"]
    (tmp_path / "s.json").write_text(json.dumps({"data": [{"paragraphs": [content]}]}))
    with pytest.raises(DataError, match='expected "text"'):
        squad_answers(tmp_path / "s.json")


@pytest.mark.parametrize("threshold", [0, -1, 1.1, float("nan")])
def test_a_threshold_is_a_share(threshold):
    with pytest.raises(CascadaError, match="guard jaccard must be over 0 and at most 1"):
        Guards(jaccard=threshold)
