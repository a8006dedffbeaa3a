"""Question and document are encoded separately, as a decoupled ranker reads them."""

import numpy as np
import pytest

from cascada.core.errors import CascadaError
from cascada.text.context import InContext
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


def test_prompts_stand_before_every_question_and_document(encoder_folder, words):
    plain = SideTokenizer.load(encoder_folder, question_length=12, max_length=16, pad_id=0)
    asked, read = f"{words[0]} ", f"{words[1]} {words[2]} "
    prompted = SideTokenizer.load(encoder_folder, question_length=12, max_length=16, pad_id=0, prompts=(asked, read))
    questions, texts, owner = words[3:5], [words[5], f"{words[6]} {words[7]}", "", " ".join(words[8:40])], [0, 1, 1, 0]
    found = prompted.encode(questions, texts, owner)
    expected = plain.encode([asked + one for one in questions], [read + text for text in texts], owner)
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.truncated.tolist() == expected.truncated.tolist() == [False, False, False, True]
    tokens = prompted.tokenise(questions, texts, owner)
    assert tokens.lengths.tolist() == found.lengths.tolist()
    alone = prompted.document.encode_alone(texts).ids.tolist()
    assert alone == plain.document.encode_alone([read + text for text in texts]).ids.tolist()
    laid_out = prompted.lay_out_documents(tokens, np.arange(4))
    assert laid_out.ids.tolist() == alone


def test_a_context_follows_the_prompt(encoder_folder, words):
    prompts = "", f"{words[1]} "
    prompted = SideTokenizer.load(encoder_folder, question_length=12, max_length=16, pad_id=0, prompts=prompts)
    prompt, context = (prompted.document.tokens([text])[0] for text in (words[1], InContext("", words[4]).before))
    encoded = prompted.document.encode_alone([InContext(words[3], words[4])])
    start, lengths = encoded.context
    assert (start, lengths.tolist()) == (1 + len(prompt), [len(context)])
    assert encoded.ids[1 : start + len(context)].tolist() == prompt + context


def test_a_prompt_that_leaves_no_room_is_refused(encoder_folder, words):
    with pytest.raises(CascadaError, match="max_length is 8: too short"):
        SideTokenizer.load(encoder_folder, question_length=8, max_length=8, pad_id=0, prompts=(" ".join(words[:6]), ""))
