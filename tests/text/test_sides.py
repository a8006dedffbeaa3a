"""Question and document are encoded separately, as a decoupled ranker reads them."""

import numpy as np

from cascada.text.sides import SideTokenizer, padded_sides


def test_a_text_that_several_questions_share_is_tokenised_once_and_follows_each(encoder_folder, words, monkeypatch):
    sides = SideTokenizer.load(encoder_folder, question_length=8, max_length=12, pad_id=0)
    questions, texts, owner = words[:2], [words[2], words[3], words[2], " ".join(words[4:30])], [0, 0, 1, 1]
    alone = [sides.encode([questions[asked]], [text], [0]) for asked, text in zip(owner, texts, strict=True)]
    read, encode = [], sides.document.token_ids
    monkeypatch.setattr(sides.document, "token_ids", lambda given: read.extend(given) or encode(given))
    together = sides.encode(questions, texts, owner)
    assert read == [texts[0], texts[1], texts[3]]
    assert together.truncated.tolist() == [False, False, False, True]
    for row, one in enumerate(alone):
        for found, expected in zip(padded_sides(together, [row], 0), padded_sides(one, [0], 0), strict=True):
            assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))
