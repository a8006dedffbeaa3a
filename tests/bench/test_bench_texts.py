"""The question and candidates that engines are measured with."""

import numpy as np

from cascada.bench.prepare import wordpiece
from cascada.bench.texts import QUESTION, WORDS, sentences


def test_a_shorter_list_is_the_start_of_a_longer_one():
    assert sentences(30)[:7] == sentences(7)
    assert sentences(7, seed=1) != sentences(7)


def test_pairs_have_44_tokens_on_average_and_are_as_uneven_as_real_ones():
    encoded = wordpiece().encode_batch([(QUESTION, text) for text in sentences(4000)])
    lengths = np.array([len(pair.ids) for pair in encoded])
    assert 43 < lengths.mean() < 45
    sentence = lengths - 3 - len(wordpiece().encode(QUESTION, add_special_tokens=False).ids)
    assert 0.45 < np.log(sentence).std() < 0.6  # TREC-QA's training sentences: 0.52


def test_every_word_is_one_token():
    tokenizer = wordpiece()
    assert all(len(tokenizer.encode(word, add_special_tokens=False).ids) == 1 for word in WORDS)
    assert "[UNK]" not in tokenizer.encode(QUESTION).tokens
