"""A decoupled ranker's stages compute what the model computes in one piece, wherever its documents come from."""

import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_engine import engine_of, in_one_piece
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from cascada.core.errors import CascadaError
from cascada.core.probe import can_run
from cascada.data import Candidate, Group
from cascada.ranking import Ranker
from cascada.systems.decoupled.documents import EncodingMemory
from cascada.systems.decoupled.engine import document_encoder
from cascada.systems.decoupled.folder import save
from cascada.systems.decoupled.stages import stages_of
from cascada.systems.export import export
from cascada.training.settings import TeacherSettings
from cascada.training.teacher import teacher_scores

SHAPES = {
    "dc-bert": {"join": 4, "exits": (5,)},
    "linear": {"join": 4, "exits": (5,), "interaction": "linear"},
    "lstm": {"join": 3, "exits": (3, 4), "interaction": "lstm"},
    "cascade": {"join": 2, "exits": (2, 3, 4), "keep": 8, "towers": "shared"},
    "added to the cosine": {"join": 2, "exits": (2, 3, 4), "scores": "added"},
    "late interaction": {"join": 2, "exits": (2, 3, 4), "scores": "added", "match": "late"},
    "late interaction alone": {"join": 4, "exits": (4,), "towers": "shared", "match": "late"},
    "late interaction and cosine": {"join": 3, "exits": (3,), "towers": "shared", "match": "both"},
    "both in fewer dimensions": {"join": 2, "exits": (2, 3), "keep": 8, "match": "both", "scores": "added"},
    "late interaction in fewer dimensions": {"join": 2, "exits": (2, 3), "keep": 8, "match": "late"},
}


class Memory:
    """A store in memory that remembers what it was asked for."""

    def __init__(self):
        self.kept = {}
        self.asked = []

    def get(self, texts):
        self.asked.append(texts)
        return [self.kept.get(text) for text in texts]

    def put(self, texts, arrays):
        self.kept.update(zip(texts, arrays, strict=True))


@pytest.fixture(scope="module", params=SHAPES.values(), ids=SHAPES)
def engine(request, encoder_folder):
    return engine_of(encoder_folder, **request.param)


@pytest.fixture(scope="module")
def texts(words):
    return [" ".join(words[i : i + 1 + i * 5 % 40]) for i in range(40)]


@pytest.fixture(scope="module")
def question(words):
    return f"{words[5]} {words[50]}?"


def scores(ranking):
    return [item.scores for item in sorted(ranking, key=lambda item: item.index)]


def test_without_drops_every_exit_scores_as_the_model_in_one_piece(engine, question, texts):
    ranker = Ranker(stages_of(engine))
    found = scores(ranker.rank(question, texts, drop=0, long="first"))
    expected = [in_one_piece(engine, question, text) for text in texts]
    np.testing.assert_allclose(found, expected, atol=2e-5)
    assert ranker.exits == engine.shape.exits


def test_stored_documents_change_nothing_and_are_asked_for_once(engine, question, texts):
    store = Memory()
    before = Ranker(stages_of(engine)).rank(question, texts, drop=0, long="first")
    first = Ranker(stages_of(engine, store, add=True)).rank(question, [*texts, texts[0]], drop=0, long="first")
    assert all(sorted(asked) == sorted(texts) for asked in store.asked), "each text once, though one came twice"
    assert len(store.kept) == len(texts)
    assert all(one.shape[1] == engine.width for one in store.kept.values())
    again = Ranker(stages_of(engine, store)).rank(question, texts, drop=0, long="first")
    assert scores(again) == scores(before)
    assert scores(first)[:-1] == pytest.approx(np.array(scores(before)), abs=1e-5)
    assert [item.truncated for item in again] == [item.truncated for item in before]
    assert any(item.truncated for item in again)


def test_a_memory_takes_what_it_has_room_for():
    memory = EncodingMemory(capacity=100)
    memory.put(
        ["a", "b", "c"], [np.zeros((2, 8), np.float32), np.ones((1, 8), np.float32), np.ones((2, 2), np.float32)]
    )
    assert [None if one is None else one.sum() for one in memory.get(["a", "b", "c", "d"])] == [0, 8, None, None]


def test_without_being_asked_to_nothing_is_stored(engine, question, texts):
    store = Memory()
    Ranker(stages_of(engine, store)).rank(question, texts[:2])
    assert store.kept == {}


def test_a_documents_encoding_knows_nothing_of_the_question(engine, words, texts):
    long_question = " ".join(words[:9])
    stores = Memory(), Memory()
    for store, question in zip(stores, (words[7], long_question), strict=True):
        Ranker(stages_of(engine, store, add=True)).rank(question, texts[:3])
    for text in texts[:3]:
        np.testing.assert_array_equal(stores[0].kept[text], stores[1].kept[text])


def test_what_a_text_is_worth_depends_on_the_question(engine, words, texts):
    ranker = Ranker(stages_of(engine))
    one, other = (np.array(scores(ranker.rank(question, texts, drop=0)))[:, -1] for question in (words[3], words[90]))
    assert np.std(one - other) > 1e-4, "beyond what a question adds to all of its candidates"


def test_each_question_is_encoded_once(engine, texts, words):
    calls = []
    own = engine.question
    engine.question = lambda ids, mask: calls.append(len(ids)) or own(ids, mask)
    try:
        list(Ranker(stages_of(engine)).rank_many([(words[0], texts), (words[1], texts[:4])]))
    finally:
        engine.question = own
    assert sum(calls) == 2


def test_an_lstm_reads_each_question_and_each_document_once(encoder_folder, texts, words):
    engine = engine_of(encoder_folder, **SHAPES["lstm"])
    read = {True: 0, False: 0}
    own = engine.read_side

    def counted(states, lengths, *, document):
        read[document] += len(states)
        return own(states, lengths, document=document)

    engine.read_side = counted
    ranker = Ranker(stages_of(engine))
    together = list(
        ranker.rank_many([(words[0], texts[:9]), (words[1], texts[:9]), (words[2], texts[3:9])], drop=0, long="first")
    )
    assert read == {True: 9, False: 3}
    for question, ranking in zip(words, together, strict=False):
        alone = ranker.rank(question, texts[3:9] if question == words[2] else texts[:9], drop=0, long="first")
        np.testing.assert_allclose(scores(ranking), scores(alone), atol=2e-5)
        if question != words[0]:
            assert ranking.flops < alone.flops / 10, "its documents were read for the first question"


@given(st.lists(st.integers(0, 39), min_size=1, max_size=12), st.sampled_from([0, 0.3, 0.9]))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_score_does_not_depend_on_the_other_candidates(engine, question, texts, rows, drop):
    ranker = Ranker(stages_of(engine))
    whole = scores(ranker.rank(question, texts, drop=0, long="first"))
    for item in ranker.rank(question, [texts[row] for row in rows], drop=drop, long="first"):
        expected = whole[rows[item.index]][: len(item.scores)]
        assert item.scores == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize("shape", [SHAPES["dc-bert"], SHAPES["linear"], {"join": 2, "exits": (3, 4)}])
def test_operations_are_those_that_torch_counts(encoder_folder, question, texts, shape):
    engine, store = engine_of(encoder_folder, **shape), Memory()
    ranker = Ranker(stages_of(engine, store, add=True))
    for text in (texts[3], texts[3], texts[7]):
        with FlopCounterMode(display=False) as counted, sdpa_kernel(SDPBackend.MATH):
            ranking = ranker.rank(question, [text])
        assert ranking.flops == ranking.full_flops == counted.get_total_flops()
    assert len(store.kept) == 2, "the second time, a document's encoding costs nothing"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, encoder_folder):
    place = tmp_path_factory.mktemp("decoupled")
    engine = engine_of(encoder_folder, **SHAPES["cascade"])
    save(engine.model, place, tokenizer=encoder_folder, card="# A tiny decoupled cascade\n")
    return place


def test_a_folder_is_a_ranker_and_its_document_side_fills_its_store(folder, encoder_folder, question, texts):
    expected = Ranker(stages_of(engine_of(encoder_folder, **SHAPES["cascade"]))).rank(
        question, texts, drop=0.5, long="first"
    )
    assert Ranker.load(folder).rank(question, texts, drop=0.5, long="first") == expected
    encoder, store = document_encoder(folder), Memory()
    assert (encoder.width, len(encoder.fingerprint)) == (8, 32)
    store.put(texts, encoder.encode(texts))
    stored = Ranker.load(folder, store=store).rank(question, texts, drop=0.5, long="first")
    assert stored.items == expected.items
    assert stored.flops < expected.flops
    behind = Ranker.load(f"bm25+{folder}", store=store)
    assert behind.rank(question, texts, drop=0, long="first").items[0].raw_score == pytest.approx(
        Ranker.load(folder).rank(question, texts, drop=0, long="first").items[0].raw_score, abs=1e-5
    )


@pytest.mark.skipif(not can_run("torch bfloat16"), reason="torch does not run in bfloat16 on this processor")
def test_encodings_in_bfloat16_are_close_and_of_the_same_fingerprint(folder, texts):
    exact, half = document_encoder(folder), document_encoder(folder, bfloat16=True)
    assert half.fingerprint == exact.fingerprint
    for first, second in zip(exact.encode(texts), half.encode(texts), strict=True):
        assert second.dtype == np.float32
        assert 0 < np.abs(first - second).max() < 0.1


def test_a_processor_without_bfloat16_is_named(folder, monkeypatch):
    monkeypatch.setattr("cascada.systems.decoupled.engine.can_run", lambda name: False)
    with pytest.raises(CascadaError, match="leave out --bfloat16"):
        document_encoder(folder, bfloat16=True)


def test_a_teacher_reads_its_encodings_from_a_store(folder, question, texts, tmp_path):
    pytest.importorskip("lmdb")
    from cascada.store import Store

    encoder = document_encoder(folder)
    store = Store.create(tmp_path / "s", fingerprint=encoder.fingerprint, width=encoder.width, form="fp32")
    store.put(texts[:6], [2 * encoding for encoding in encoder.encode(texts[:6])])  # other than it would compute
    groups = [Group(question, tuple(Candidate(text) for text in texts[:6]))]

    def said(name):
        """Every teacher finds the cached scores of the one before."""
        return teacher_scores(TeacherSettings(model=name, level="list"), groups, tmp_path)

    found, expected = said(f"{folder}@{tmp_path / 's'}"), Ranker.load(folder, store=tmp_path / "s")
    scores = next(iter(expected.exit_scores([(question, texts[:6])])))[-1]
    assert found == pytest.approx((scores - scores.mean()) / scores.std(), abs=1e-4)
    computed = said(str(folder))
    assert found != pytest.approx(computed, abs=1e-4)
    shutil.copytree(folder, tmp_path / "a@b")
    assert said(str(tmp_path / "a@b")) == pytest.approx(computed, abs=1e-4)
    assert said(f"{tmp_path / 'a@b'}@{tmp_path / 's'}") == pytest.approx(found, abs=1e-4)
    with pytest.raises(CascadaError, match="a name is missing beside the @"):
        said(f"{folder}@")


def test_a_store_on_disk_serves_its_own_model_only(folder, encoder_folder, question, texts, tmp_path):
    pytest.importorskip("lmdb")
    from cascada.store import Store

    encoder = document_encoder(folder)
    Store.create(tmp_path / "own", fingerprint=encoder.fingerprint, width=encoder.width, form="fp16")
    ranker = Ranker.load(folder, store=tmp_path / "own", add=True)
    first = ranker.rank(question, texts, drop=0)
    second = ranker.rank(question, texts, drop=0)
    np.testing.assert_allclose(scores(first), scores(second), atol=0.02)
    assert second.flops < first.flops
    Store.create(tmp_path / "other", fingerprint="x" * 32, width=8)
    with pytest.raises(CascadaError, match="another model"):
        Ranker.load(folder, store=tmp_path / "other")


@pytest.mark.parametrize(("form", "near"), [("int8", 0.02), ("fp16", 0.001), ("fp32", 1e-5)])
@pytest.mark.parametrize("precision", [None, "fp32"])
def test_late_interaction_reads_every_number_format_of_a_store(
    encoder_folder, question, texts, tmp_path, form, near, precision
):
    """In torch and exported: a similarity as from encodings that were never stored, within the format's rounding."""
    pytest.importorskip("lmdb")
    from cascada.store import Store

    place = tmp_path / "late"
    network = engine_of(encoder_folder, **SHAPES["late interaction alone"]).model
    save(network, place, tokenizer=encoder_folder, card="# Late interaction\n")
    if precision:
        export(place, tmp_path / "exported", precision)
        place = tmp_path / "exported"
    encoder = document_encoder(place)
    store = Store.create(tmp_path / "s", fingerprint=encoder.fingerprint, width=encoder.width, form=form)
    store.put(texts, encoder.encode(texts))
    plain, stored = Ranker.load(place), Ranker.load(place, store=tmp_path / "s")
    fresh = plain.rank(question, texts, drop=0)
    cached = stored.rank(question, texts, drop=0)
    scale = float(network.cosine.log_scale.exp().detach())
    raw = [
        [item.raw_score / scale for item in sorted(ranking, key=lambda item: item.index)] for ranking in (cached, fresh)
    ]
    np.testing.assert_allclose(*raw, atol=near)
    assert cached.flops < fresh.flops, "no document was encoded again"


def test_a_ranker_that_has_no_use_for_a_store_says_so(ranker_folder):
    with pytest.raises(CascadaError, match="no use for stored encodings"):
        Ranker.load(ranker_folder, store=Memory())
    with pytest.raises(CascadaError, match="no use for stored encodings"):
        Ranker.load("bm25", store=Memory())
    with pytest.raises(CascadaError, match="only a decoupled ranker has encodings to store"):
        document_encoder(ranker_folder)
