"""Pairs of question and sentence are laid out as the model's own tokenizer would, cut and padded on arrays."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from cascada.core.errors import CascadaError
from cascada.text.pair_arrays import EncodedPairs
from cascada.text.pairs import PairTokenizer, kept_lengths

ODD_TEXTS = [
    "",
    " ",
    "plain words",
    "nul \x00 and bell \x07 and \x1b[2J escape",
    "tabs\tand\nlines\r\n",
    "日本語の文 and English и русский مرحبا",
    "emoji 😀 👩‍👩‍👧 and e\u0301 combined",
    "\u202eright to left\u202c",
    "\ufeffmark",
    "[SEP] </s> [CLS] <s> [PAD] words",
    "$A $B [UNK]",
]


@pytest.fixture(scope="module", params=["bert", "roberta", "unigram", "modern"])
def tokenizer(request, tokenizers):
    return Tokenizer.from_str(tokenizers[request.param].to_str())


def pair_tokenizer(tokenizer, max_length=64):
    return PairTokenizer(Tokenizer.from_str(tokenizer.to_str()), max_length=max_length)


def row(encoded, place=0):
    span = slice(encoded.offsets[place], encoded.offsets[place + 1])
    return encoded.ids[span].tolist(), encoded.types[span].tolist()


def one(pairs, question, text):
    return pairs.encode([question], [text], [0])


def expected(tokenizer, question, text, max_length):
    """Ids and truncation from the whole text's tokens, cut by the rule as it is stated."""
    asked, answered = (tokenizer.encode(part, add_special_tokens=False).ids for part in (question, text))
    special = tokenizer.num_special_tokens_to_add(True)
    room = max_length - special
    keep_question, keep_text = kept_lengths(len(asked), len(answered), room)
    whole, sides = tokenizer.encode("a", "b").ids, [len(tokenizer.encode(t, add_special_tokens=False)) for t in "ab"]
    before, between, after = whole[:1], whole[1 + sides[0] : -1 - sides[1]], whole[-1:]
    ids = before + asked[:keep_question] + between + answered[:keep_text] + after
    return ids, len(asked) + len(answered) > room


# When it fits


@pytest.mark.parametrize("text", ODD_TEXTS, ids=repr)
@pytest.mark.parametrize("question", ["who wrote it?", "", "誰 \x00 😀"])
def test_a_pair_that_fits_is_the_tokenizers_own_encoding(tokenizer, question, text):
    own = tokenizer.encode(question, text)
    encoded = one(pair_tokenizer(tokenizer, 256), question, text)
    assert row(encoded) == (own.ids, own.type_ids)
    assert not encoded.truncated[0]


def test_a_text_alone_is_the_tokenizers_own_encoding(tokenizer):
    encoded = pair_tokenizer(tokenizer, 256).encode_alone(ODD_TEXTS)
    for place, text in enumerate(ODD_TEXTS):
        own = tokenizer.encode(text)
        assert row(encoded, place) == (own.ids, own.type_ids)


def test_a_text_alone_is_cut_to_the_length(tokenizer, words):
    encoded = pair_tokenizer(tokenizer, 16).encode_alone([" ".join(words), words[0]])
    assert encoded.lengths[0] == 16
    assert encoded.truncated.tolist() == [True, False]
    assert row(encoded)[0] == tokenizer.encode(" ".join(words)).ids[:15] + tokenizer.encode("a").ids[-1:]


@given(st.text(max_size=40), st.text(max_size=80))
@settings(max_examples=150)
def test_any_text_that_can_be_written_is_encoded_as_the_tokenizer_does(tokenizers, question, text):
    for tokenizer in tokenizers.values():
        own = tokenizer.encode(question, text)
        assert row(one(pair_tokenizer(tokenizer, 1024), question, text))[0] == own.ids


def test_each_text_is_paired_with_its_owner(tokenizer, words):
    encoded = pair_tokenizer(tokenizer).encode(words[:2], words[2:5], [1, 0, 1])
    for place, (question, text) in enumerate([(1, 2), (0, 3), (1, 4)]):
        assert row(encoded, place)[0] == tokenizer.encode(words[question], words[text]).ids


def test_no_pairs_are_no_rows(tokenizer):
    encoded = pair_tokenizer(tokenizer).encode(["who?"], [], [])
    assert len(encoded) == 0
    assert encoded.offsets.tolist() == [0]
    assert encoded.padded([], 0)[0].shape == (0, 0)


# Lone surrogates, which cannot be written as UTF-8


@pytest.mark.parametrize(
    ("text", "meant"), [("a \ud800 b", "a \ufffd b"), ("\udcff", "\ufffd"), ("\ud83d\ude00", "😀")]
)
def test_halves_of_a_surrogate_pair_are_mended_or_replaced(tokenizer, text, meant):
    pairs = pair_tokenizer(tokenizer)
    assert row(one(pairs, "é?", text)) == row(one(pairs, "é?", meant))
    assert row(one(pairs, text, "x")) == row(one(pairs, meant, "x"))


# When it does not fit


@given(question=st.integers(0, 40), text=st.integers(0, 60), max_length=st.integers(6, 48))
@settings(max_examples=200)
def test_what_does_not_fit_is_cut_and_said_so(tokenizers, words, question, text, max_length):
    asked, answered = " ".join(words[:question]), " ".join(words[60 : 60 + text])
    for tokenizer in tokenizers.values():
        encoded = one(pair_tokenizer(tokenizer, max_length), asked, answered)
        ids, truncated = expected(tokenizer, asked, answered, max_length)
        assert row(encoded)[0] == ids
        assert encoded.lengths[0] <= max_length
        assert encoded.truncated[0] == truncated


@given(question=st.integers(0, 300), text=st.integers(0, 300), room=st.integers(2, 200))
def test_the_sentence_gives_way_first_and_the_question_past_half_the_room(question, text, room):
    keep_question, keep_text = kept_lengths(question, text, room)
    assert keep_question + keep_text == min(question + text, room)
    assert 0 <= keep_question <= question
    assert 0 <= keep_text <= text
    if keep_question < question:  # the question was cut: the sentence has no more than its half, or all it wants
        assert keep_question >= room // 2
        assert keep_text == min(text, room - room // 2 - (room % 2) * (question > text))


def test_a_length_without_room_for_both_texts_is_rejected(tokenizer):
    special = tokenizer.num_special_tokens_to_add(True)
    assert pair_tokenizer(tokenizer, special + 2).room == 2
    with pytest.raises(CascadaError, match="too short for a question and a sentence"):
        pair_tokenizer(tokenizer, special + 1)


# Texts of any size


def test_ten_megabytes_are_quick_and_cut_as_if_read_whole(tokenizer, words):
    paragraph = " ".join(words) + " "
    text = paragraph * (10_000_000 // len(paragraph))
    pairs = pair_tokenizer(tokenizer)
    start = time.process_time()
    encoded = one(pairs, "who?", text)
    spent = time.process_time() - start
    tokenizer.encode(text[: len(text) // 20])
    assert spent < time.process_time() - start - spent, "a twentieth of the text, read whole, takes longer"
    assert row(encoded)[0] == expected(tokenizer, "who?", paragraph * 3, 64)[0]
    assert encoded.truncated[0]


ENDLESS = {
    "spaces and then a word": " " * 1_000_000 + "word",
    "one word": "ba" * 500_000,
    "lines": "\n" * 300_000 + "x",
    "letters without a space": "日本" * 100_000,
    "a long word behind short ones": " ".join(["ba"] * 28).ljust(924) + "b" * 5000,
    "a mark of combining on the cut": "e" * 1023 + "\u0301" * 3 + " ba" * 1000,
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_a_text_is_cut_as_if_it_had_been_read_whole(tokenizer, text):
    encoded = one(pair_tokenizer(tokenizer), "who?", text)
    assert (row(encoded)[0], encoded.truncated[0]) == expected(tokenizer, "who?", text, 64)


@given(st.lists(st.sampled_from(["ba", "du ", " ", "x" * 90, "y" * 150, "日本", ".", "\n", "é"]), max_size=400))
@settings(max_examples=100)
def test_any_long_text_is_cut_as_if_it_had_been_read_whole(tokenizers, parts):
    text = "".join(parts)
    for tokenizer in tokenizers.values():
        encoded = one(pair_tokenizer(tokenizer, 16), "who?", text)
        assert (row(encoded)[0], encoded.truncated[0]) == expected(tokenizer, "who?", text, 16)


# Threads, rows, padding


def test_many_threads_get_what_one_gets(tokenizer, words):
    pairs = pair_tokenizer(tokenizer, 24)
    jobs = [(" ".join(words[i : i + 3]), " ".join(words[i : i + 1 + i % 30])) for i in range(150)]
    alone = [row(one(pairs, *job)) for job in jobs]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda job: row(one(pairs, *job)), jobs * 4)) == alone * 4


@st.composite
def encoded_pairs(draw):
    lengths = draw(st.lists(st.integers(0, 6), min_size=1, max_size=8))
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    ids = np.arange(1, offsets[-1] + 1, dtype=np.int32)
    types = np.array(draw(st.lists(st.integers(0, 1), min_size=len(ids), max_size=len(ids))), dtype=np.int8)
    truncated = np.array(draw(st.lists(st.booleans(), min_size=len(lengths), max_size=len(lengths))))
    rows = draw(st.lists(st.integers(0, len(lengths) - 1), max_size=10))
    return EncodedPairs(ids, types, offsets, truncated), np.array(rows, dtype=np.int64)


@given(encoded_pairs())
def test_rows_that_are_taken_keep_their_tokens(case):
    encoded, rows = case
    taken = encoded.take(rows)
    assert [row(taken, place) for place in range(len(rows))] == [row(encoded, place) for place in rows]
    assert taken.truncated.tolist() == encoded.truncated[rows].tolist()
    assert encoded.ids[encoded.token_positions(rows)].tolist() == taken.ids.tolist()


@given(encoded_pairs())
def test_padded_rows_show_their_tokens_under_the_mask_and_padding_elsewhere(case):
    encoded, rows = case
    ids, mask, types = encoded.padded(rows, pad_id=-7)
    assert ids.shape == mask.shape == types.shape
    assert ids.shape[1:] == (max(encoded.lengths[rows], default=0),)
    for place, source in enumerate(rows):
        assert (ids[place][mask[place]].tolist(), types[place][mask[place]].tolist()) == row(encoded, source)
        assert mask[place].tolist() == sorted(mask[place].tolist(), reverse=True)
    assert set(ids[~mask].tolist()) <= {-7}
    assert set(types[~mask].tolist()) <= {0}


# Files


@pytest.mark.parametrize("content", ["", "{}", "not json"])
def test_a_file_that_is_no_tokenizer_is_named(tmp_path, content):
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(CascadaError, match=r"tokenizer\.json cannot be read as a tokenizer"):
        PairTokenizer.load(tmp_path, max_length=64)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CascadaError, match=r"tokenizer\.json cannot be read as a tokenizer"):
        PairTokenizer.load(tmp_path, max_length=64)


def test_truncation_and_padding_written_in_the_file_are_not_used(tmp_path, tokenizers, words):
    tokenizer = Tokenizer.from_str(tokenizers["bert"].to_str())
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=40)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    encoded = one(PairTokenizer.load(tmp_path, max_length=64), "who?", " ".join(words[:20]))
    assert row(encoded)[0] == tokenizers["bert"].encode("who?", " ".join(words[:20])).ids
