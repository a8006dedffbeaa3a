"""Windows of long texts cover every token, and every token has its characters."""

import numpy as np
import pytest

from cascada.core.errors import CascadaError
from cascada.text.pairs import PairTokenizer
from cascada.text.windows import WindowTokenizer


@pytest.fixture(params=["bert", "roberta"])
def tokenizer(request, tokenizers):
    return WindowTokenizer(PairTokenizer(tokenizers[request.param], max_length=20), overlap=4)


def test_a_text_that_fits_is_one_window_laid_out_as_a_pair_is(tokenizer, words):
    question, text = "bada bade", " ".join(words[:5])
    windows = tokenizer.encode([question], [text], [0])
    pair = tokenizer.pairs.encode([question], [text], [0])
    assert len(windows) == 1
    assert windows.encoded.ids.tolist() == pair.ids.tolist()
    assert windows.encoded.types.tolist() == pair.types.tolist()


def test_windows_of_a_long_text_overlap_and_leave_nothing_out(tokenizer, words):
    text = " ".join(words[:60])
    windows = tokenizer.encode(["bada"], [text], [0])
    assert len(windows) > 3
    assert windows.encoded.lengths.max() == 20
    ends = windows.token + windows.tokens
    assert (windows.token[0], ends[-1]) == (0, len(windows.offsets[0]))
    assert (ends[:-1] - windows.token[1:]).tolist() == [4] * (len(windows) - 1)


def test_the_document_mask_is_on_the_texts_own_tokens(tokenizer, words):
    windows = tokenizer.encode(["bada bade"], [" ".join(words[:40]), "bada"], [0, 0])
    mask = windows.document_mask(range(len(windows)))
    ids, _, _ = windows.encoded.padded(range(len(windows)), 0)
    whole = tokenizer.pairs.tokens([" ".join(words[:40])])[0]
    for row in range(len(windows) - 1):
        start = windows.token[row]
        assert ids[row][mask[row]].tolist() == whole[start : start + windows.tokens[row]]
    assert mask.sum(1).tolist() == windows.tokens.tolist()


def test_every_part_of_a_text_is_found_again_from_its_place_in_a_window(tokenizer, words):
    text = "Bada,  bade " + " ".join(words[:30])
    windows = tokenizer.encode(["bada"], [text], [0])
    for word in (words[3], words[20], words[29]):
        start = text.rindex(word)
        places = [windows.token_span(window, start, start + len(word)) for window in range(len(windows))]
        assert any(places)
        for window, found in enumerate(places):
            if found:
                begin, end = windows.character_span(window, *found)
                assert text[begin:end].strip() == word


def test_a_part_that_a_window_cuts_is_not_in_it(tokenizers, words):
    tokenizer = WindowTokenizer(PairTokenizer(tokenizers["bert"], max_length=12), overlap=0)
    windows = tokenizer.encode(["bada"], [" ".join(words[:16])], [0])
    assert windows.tokens.tolist() == [8, 8]
    across = (" ".join(words[:7]) + " ").__len__(), len(" ".join(words[:9]))
    assert [windows.token_span(window, *across) for window in (0, 1)] == [None, None]


def test_a_question_of_any_length_leaves_half_of_the_room_to_the_text(tokenizer, words):
    windows = tokenizer.encode([" ".join(words)], [" ".join(words[:50])], [0])
    assert windows.encoded.truncated.all()
    assert windows.tokens[0] >= tokenizer.pairs.room // 2


def test_texts_without_words_and_halves_of_characters_keep_their_places(tokenizer):
    windows = tokenizer.encode(["bada"], ["", "  ", "bada \ud800 bade"], [0, 0, 0])
    assert windows.text.tolist() == [0, 1, 2]
    text, last = "bada \ud800 bade", windows.offsets[2][-1]
    assert text[last[0] : last[1]].strip().endswith("e")
    assert np.all(windows.offsets[2][:, 1] <= len(text))


@pytest.mark.parametrize("overlap", [-1, 9, 100])
def test_an_overlap_that_leaves_no_room_is_rejected(tokenizers, overlap):
    with pytest.raises(CascadaError, match=f"overlap is {overlap}"):
        WindowTokenizer(PairTokenizer(tokenizers["bert"], max_length=20), overlap=overlap)


def test_beside_a_long_question_a_short_text_is_one_window_whatever_the_overlap(tokenizers, words):
    tokenizer = WindowTokenizer(PairTokenizer(tokenizers["bert"], max_length=40), overlap=12)
    for length in range(1, 37):
        windows = tokenizer.encode([" ".join(words[:length])], [words[0]], [0])
        assert windows.text.tolist() == [0], length
