"""Questions and sentences in two parallel files."""

import pytest

from cascada.core.errors import CascadaError, DataError
from cascada.data import Candidate, Group, read
from cascada.data.readers import parallel


@pytest.fixture
def folder(tmp_path):
    """From SQuAD (CC BY-SA 4.0), in the layout of its answer sentences."""
    (tmp_path / "tgt-dev.txt").write_text(
        "which nfl team won super bowl 50 ?\nwhat day was the super bowl played on ?\nwhere does the rhine begin ?\n"
    )
    (tmp_path / "src-dev.txt").write_text(
        "the american football conference -lrb- afc -rrb- champion denver broncos won the super bowl 24 -- 10 . \n"
        "the game was played on february 7 , 2016 , at levi 's stadium . \n"
        "the rhine begins in the swiss canton of graubünden . \n"
    )
    return tmp_path


def test_squad_sentences_are_one_correct_candidate_per_question_in_natural_text(folder):
    assert [(group.question, group.texts, group.labels) for group in read("squad_sentences", root=folder, split="dev")][
        :2
    ] == [
        (
            "which nfl team won super bowl 50?",
            ("the american football conference (afc) champion denver broncos won the super bowl 24–10.",),
            (1,),
        ),
        (
            "what day was the super bowl played on?",
            ("the game was played on february 7, 2016, at levi's stadium.",),
            (1,),
        ),
    ]


def test_ids_hold_article_and_line_where_the_articles_are_listed(folder):
    (folder / "doclist-dev.txt").write_text("Super_Bowl_50\nRhine\n")
    groups = list(read(f"squad_sentences:{folder / 'src-dev.txt'}"))
    assert [group.id for group in groups] == ["Super_Bowl_50/1", "Super_Bowl_50/2", "Rhine/3"]
    assert [group.candidates[0].id for group in groups] == [group.id for group in groups]


def test_squad_sentences_without_their_questions_say_what_is_missing(folder):
    (folder / "tgt-dev.txt").unlink()
    with pytest.raises(CascadaError, match=r"src-dev.txt needs the questions in the same folder, in tgt-dev.txt"):
        list(read("squad_sentences", root=folder, split="dev"))


def test_squad_sentences_are_named_by_the_file_of_sentences(folder):
    with pytest.raises(CascadaError, match=r"expected the file of sentences, src-SPLIT.txt"):
        list(read(f"squad_sentences:{folder / 'tgt-dev.txt'}"))


@pytest.fixture
def pairs(tmp_path):
    def write(questions, sentences, articles=None):
        (tmp_path / "q").write_text(questions)
        (tmp_path / "s").write_text(sentences)
        if articles is not None:
            (tmp_path / "a").write_text(articles)
        return list(
            parallel.read(tmp_path / "q", tmp_path / "s", articles=None if articles is None else tmp_path / "a")
        )

    return write


def test_other_parallel_files_keep_their_text(pairs):
    assert pairs("Who ?\n", " He 's it .\n\n") == [Group("Who ?", (Candidate("He 's it .", 1),))]


def test_a_third_file_names_the_article_of_each_line(pairs):
    found = pairs("who?\nwhen?\n", "he\nnow\n", "New York\nRhine\n")
    assert [group.id for group in found] == ["New_York/1", "Rhine/2"]


@pytest.mark.parametrize(
    ("questions", "sentences", "problem"),
    [
        ("a\nb\n", "a\n", "q, line 2: 'b' has no partner: .*s ends after line 1, 1 line shorter"),
        ("a\n", "a\nb\nc\n", "s, line 2: 'b' has no partner: .*q ends after line 1, 2 lines shorter"),
        ("a\n\nc\n", "a\nb\nc\n", "q, line 2: expected one question per line, found an empty line"),
        ("a\nb\n", "a\n  \n", "s, line 2: expected one sentence per line, found an empty line"),
        ("", "a\n", "q is empty: expected one question per line"),
    ],
)
def test_files_that_do_not_fit_are_named_with_the_line(pairs, questions, sentences, problem):
    with pytest.raises(DataError, match=problem):
        pairs(questions, sentences)


def test_more_articles_than_questions_are_rejected(pairs):
    with pytest.raises(DataError, match="a has 2 articles for 1 questions"):
        pairs("a\n", "a\n", "A\nB\n")
