"""Token ids found in a table of words are those that the tokenizer itself gives, for any text."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, normalizers

from cascada.systems.load import BUNDLED_FOLDER
from cascada.text import wordpiece
from cascada.text.pairs import MANY, PairTokenizer
from cascada.text.wordpiece import WordPieceTable, encode_whole

REAL = Tokenizer.from_file(str(BUNDLED_FOLDER / "tokenizer.json"))
REAL.no_truncation()
REAL.no_padding()

CASED = Tokenizer.from_str(REAL.to_str())
CASED.normalizer = normalizers.BertNormalizer(lowercase=False)

TABLES = {"lower case": WordPieceTable.of(REAL), "cased": WordPieceTable.of(CASED)}

WORDS = [
    *(
        "Hamlet",
        "the",
        "unbelievably",
        "x" * 100,
        "x" * 101,
        "1914–1918",
        "café",
        "İstanbul",
        "ΣΊΣΥΦΟΣ",
        "東京",
        "e\u0301",
    ),
    *("don't", "U.S.A.", "[SEP]", "[sep]", "[UNK]", "[", "##ing", "\x00", "\x07", "\x1c", "\x7f", "\u200b", "\u00a0"),
    *("\t", "\n", "\r\n", "\x0b", "\u2028", "\ufffd", "😀", "qzxv", "~`^", "ﬁ", "ß", "Ⅷ"),
]
texts = st.lists(
    st.one_of(
        st.text(st.characters(codec="ascii"), max_size=30),
        st.text(max_size=12),
        st.lists(st.one_of(st.sampled_from(WORDS), st.just(" ")), max_size=8).map("".join),
    ),
    max_size=6,
)


def lists(ids, places):
    return [ids[start : start + length].tolist() for start, length in places]


@pytest.mark.parametrize("kind", TABLES)
@settings(max_examples=150, deadline=None)
@given(texts)
@example([])
@example(["", " ", "\x00", "plain"])
@example(WORDS)
def test_every_text_has_the_ids_that_the_tokenizer_gives(kind, texts):
    table = TABLES[kind]
    assert lists(*table.encode(texts)) == lists(*encode_whole(table.tokenizer, texts))


def test_the_pair_tokenizer_reads_a_long_list_as_it_reads_its_texts_one_by_one(encoder_folder):
    folder_texts = [" ".join(WORDS[place:] + WORDS[:place]) for place in range(len(WORDS))]
    assert len(folder_texts) >= MANY
    for folder in (encoder_folder, BUNDLED_FOLDER):
        pairs = PairTokenizer.load(folder, max_length=64)
        assert pairs.tokens(folder_texts) == [pairs.tokens([text])[0] for text in folder_texts]


def test_a_full_table_begins_again_and_stays_right(monkeypatch):
    monkeypatch.setattr(wordpiece, "CHARACTERS", 50)
    table = WordPieceTable.of(REAL)
    sizes = set()
    for number in range(40):
        some = [f"zyzzyva{number} qwertyuiop{number} ägyptisch{number}"]
        assert lists(*table.encode(some)) == lists(*encode_whole(REAL, some))
        sizes.add(len(table._table))
    assert max(sizes) < min(sizes) + 20


def test_threads_share_a_table(monkeypatch):
    monkeypatch.setattr(wordpiece, "CHARACTERS", 50)
    table = WordPieceTable.of(REAL)
    lots = [[f"word{number}x{thread} zyzzyva{number}" for number in range(30)] for thread in range(8)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda some: lists(*table.encode(some)), lots))
    assert results == [lists(*encode_whole(REAL, some)) for some in lots]


def test_other_tokenizers_have_no_table(tokenizers):
    assert WordPieceTable.of(tokenizers["roberta"]) is None
    normalised = Tokenizer.from_str(REAL.to_str())
    normalised.add_tokens([AddedToken("hamlet", normalized=True)])
    assert WordPieceTable.of(normalised) is None
    dirty = Tokenizer.from_str(REAL.to_str())
    dirty.normalizer = normalizers.BertNormalizer(clean_text=False)
    assert WordPieceTable.of(dirty) is None
