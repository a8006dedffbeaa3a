"""A text may bring what stands before it; what does not fit is cut from the context first."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.encoders.encoder import load_encoder
from cascada.ranking.stage import NO_DEADLINE
from cascada.search.candidates import candidate_sentences
from cascada.search.passage import Passage
from cascada.systems.decoupled.documents import encode_documents
from cascada.systems.decoupled.engine_torch import TorchEngine, tokenizer_of
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.shape import DecoupledShape
from cascada.text.context import InContext
from cascada.text.pairs import PairTokenizer
from cascada.text.sides import SideTokenizer


def ids_of(encoded):
    return encoded.ids.tolist()


def test_it_is_a_string_that_knows_its_parts():
    text = InContext("It is tall.", "The tower")
    assert (text, text.text, text.context, text.before) == (
        "The tower: It is tall.",
        "It is tall.",
        "The tower",
        "The tower: ",
    )
    again = pickle.loads(pickle.dumps(text))
    assert (again, again.text, type(again)) == (text, "It is tall.", InContext)
    assert InContext("It is tall.", "") == "It is tall."


@given(question=st.integers(1, 20), context=st.integers(0, 30), text=st.integers(1, 30))
@settings(deadline=None, max_examples=60)
def test_the_context_is_cut_before_the_text(tokenizers, words, question, context, text):
    """Pairs: as much of the context as fits; the text itself is cut only when no context is left."""
    pairs = PairTokenizer(tokenizers["bert"], max_length=32)
    asked, own = " ".join(words[:question]), " ".join(words[50 : 50 + text])
    with_context = pairs.encode([asked], [InContext(own, " ".join(words[100 : 100 + context]))], [0])
    without = pairs.encode([asked], [own], [0])
    assert bool(with_context.truncated[0]) == bool(without.truncated[0])
    tail = ids_of(without)[len(pairs.tokens([asked])[0]) + 2 :] if not without.truncated[0] else None
    if tail is not None:  # the whole text is still there, at the end
        assert ids_of(with_context)[-len(tail) :] == tail
    else:
        assert ids_of(with_context) == ids_of(without)
    assert len(with_context.ids) <= 32


def test_sides_and_texts_alone_are_cut_in_the_same_way(encoder_folder, words):
    sides = SideTokenizer.load(encoder_folder, question_length=8, max_length=16, pad_id=0)
    long_context, own = " ".join(words[100:130]), " ".join(words[50:60])
    tokens = sides.document.tokens([own])[0]
    for ids in (
        ids_of(sides.document.encode_alone([InContext(own, long_context)])),
        ids_of(sides.encode([words[0]], [InContext(own, long_context)], [0])),
    ):
        assert ids[-len(tokens) - 1 : -1] == tokens
    assert not sides.document.encode_alone([InContext(own, long_context)]).truncated[0]


def test_a_ranker_reads_it_and_returns_the_text(cascade_folder, words):
    ranker = Ranker.load(cascade_folder)
    candidates = [{"text": words[3], "context": " ".join(words[10:20])}, {"text": words[3]}, words[4]]
    ranking = ranker.rank(words[0], candidates)
    assert {item.index: item.text for item in ranking} == {0: words[3], 1: words[3], 2: words[4]}
    scores = ranker.score(words[0], candidates)
    assert scores[0] != scores[1]
    assert scores[0] == pytest.approx(ranker.score(words[0], [f"{' '.join(words[10:20])}: {words[3]}"])[0])
    with pytest.raises(CascadaError, match='"context" of a candidate is int'):
        ranker.rank(words[0], [{"text": words[3], "context": 7}])


def test_a_sentence_of_a_document_has_its_heading_or_the_documents_name():
    text = "It was built by Ada Lovelace."
    headed = Passage(f"# The Cape\n\nIt has a lighthouse. {text}", "docs/north-coast.md", 0, 62)
    assert candidate_sentences("who built it?", [headed])[-1].to_rank() == {"text": text, "context": "The Cape"}
    plain = Passage(f"It has a lighthouse. {text}", "docs/north-coast.txt", 0, 50)
    assert candidate_sentences("who built it?", [plain])[-1].to_rank() == {"text": text, "context": "north coast"}


def test_plain_texts_are_encoded_as_ever(tokenizers, words):
    pairs = PairTokenizer(tokenizers["bert"], max_length=12)
    texts = ["", " ".join(words[:30]), words[0]]
    encoded = pairs.encode_alone(texts)
    before, after = pairs.single
    for row, text in enumerate(texts):
        own = encoded.ids[encoded.offsets[row] : encoded.offsets[row + 1]].tolist()
        assert own == before + pairs.tokens([text])[0][: 12 - len(before) - len(after)] + after
    assert encoded.truncated.tolist() == [False, True, False]
    assert np.all(encoded.types == 0)


def test_late_interaction_compares_the_texts_own_tokens_only(encoder_folder, words):
    """The context changes a text's encoding, but is not part of it."""
    shape = DecoupledShape(join=4, exits=(4,), towers="shared", match="late", question_length=12, max_length=32)
    model = DecoupledRanker(load_encoder(encoder_folder), shape).eval()
    engine = TorchEngine(model, tokenizer_of(model, encoder_folder))
    plain, other = words[5], f"{words[6]} {words[7]}"
    texts = [plain, InContext(plain, f"{words[8]} {words[9]}"), other]
    alone, in_context, last = encode_documents(engine, texts, NO_DEADLINE)[0]
    assert alone.shape == in_context.shape
    assert not np.allclose(alone, in_context, atol=1e-3)
    assert last == pytest.approx(encode_documents(engine, [other], NO_DEADLINE)[0][0], abs=1e-5)
