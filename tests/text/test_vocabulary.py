import numpy as np
import pytest

from cascada.core.errors import CascadaError
from cascada.text.vocabulary import PAD, UNKNOWN, Vocabulary, WordPairTokenizer, padded_words, word_tokens

TEXT = "It isn't Paris's 1,000.5 (or so)"


def test_words_clitics_numbers_and_signs_stand_apart():
    assert word_tokens(TEXT) == ["it", "is", "n't", "paris", "'s", "1,000.5", "(", "or", "so", ")"]


def test_tokenised_text_gives_the_words_of_the_text_it_was_made_from():
    assert word_tokens("It is n't Paris 's 1,000.5 -LRB- or so -RRB-") == word_tokens(TEXT)
    assert word_tokens("`` Gold ''") == word_tokens('"Gold"')


def test_ids_follow_how_often_a_word_stands_in_the_texts():
    vocabulary = Vocabulary.of(["b a b", "b c a d"])
    assert vocabulary.words == ("b", "a", "c", "d")
    assert vocabulary.ids("d b zzz") == [5, 2, UNKNOWN]
    assert len(vocabulary) == 6


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_a_text_without_words_is_one_unknown_word(text):
    assert Vocabulary(["a"]).ids(text) == [UNKNOWN]


@pytest.mark.parametrize("words", [(), ("a",), ("été", "\u0085x", "\ud800", "'")])
def test_a_vocabulary_comes_back_from_its_file(tmp_path, words):
    Vocabulary(words).save(tmp_path / "words.txt")
    assert Vocabulary.load(tmp_path / "words.txt").words == words


def test_a_vocabulary_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(CascadaError, match=r"words.txt cannot be read as a vocabulary"):
        Vocabulary.load(tmp_path / "words.txt")


@pytest.fixture
def encoded():
    pairs = WordPairTokenizer(Vocabulary("abcdef"), max_words=3)
    return pairs.encode(["a b", "c"], ["d", "e f a b", ""], [0, 1, 1])


def test_questions_and_sentences_are_laid_out_side_by_side(encoded):
    question, text = padded_words(encoded, [0, 1, 2])
    assert question.tolist() == [[2, 3], [4, PAD], [4, PAD]]
    assert text.tolist() == [[5, PAD, PAD], [6, 7, 2], [UNKNOWN, PAD, PAD]]


def test_rows_may_be_taken_in_any_order(encoded):
    question, text = padded_words(encoded, np.array([2, 0]))
    assert (question.tolist(), text.tolist()) == ([[4, PAD], [2, 3]], [[UNKNOWN], [5]])


def test_a_sentence_that_was_cut_is_reported(encoded):
    assert encoded.truncated.tolist() == [False, True, False]
