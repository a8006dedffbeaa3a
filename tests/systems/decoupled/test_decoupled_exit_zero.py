"""Exit 0 in front of a decoupled ranker: most documents are dropped before they are encoded."""

import numpy as np
import pytest

import cascada
from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.data import Candidate, Group, write_jsonl
from cascada.encoders.encoder import load_encoder
from cascada.store import fill, store_for
from cascada.systems.calibrate import calibrate
from cascada.systems.cut import cut
from cascada.systems.decoupled.engine import document_encoder
from cascada.systems.decoupled.folder import load, save
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.shape import DecoupledShape
from cascada.systems.export import export

SHAPE = {"join": 4, "towers": "shared", "match": "late", "question_length": 12, "max_length": 32}


@pytest.fixture(scope="module")
def folders(tmp_path_factory, encoder_folder, words):
    """A late-interaction ranker: as trained, with exit 0 in front, and that exported in both precisions."""
    base = tmp_path_factory.mktemp("decoupled-exit0")
    model = DecoupledRanker(load_encoder(encoder_folder), DecoupledShape(exits=(4,), **SHAPE))
    save(model.eval(), base / "without", tokenizer=encoder_folder, card="")
    cut(base / "without", (0, 4), base / "trained", texts=[f"{one} {words[0]}" for one in words[1:40]])
    for precision in ("fp32", "int8"):
        export(base / "trained", base / precision, precision)
    return base


@pytest.fixture(scope="module")
def texts(words):
    return [" ".join(words[start : start + 3 + start % 7]) for start in range(30)]


def scores_of(folder, question, texts):
    return next(iter(Ranker.load(folder).exit_scores([(question, texts)])))


def test_the_scores_at_the_join_stay_and_exit_0_is_added(folders, words, texts):
    without, trained = (scores_of(folders / name, words[5], texts) for name in ("without", "trained"))
    assert without.shape == (1, 30)
    assert trained.shape == (2, 30)
    assert trained[1] == pytest.approx(without[0], abs=1e-6)


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_an_exported_ranker_scores_as_the_trained_one(folders, words, texts, precision):
    trained, exported = (scores_of(folders / name, words[5], texts) for name in ("trained", precision))
    assert exported == pytest.approx(trained, abs=1e-4 if precision == "fp32" else 0.3)


def test_a_dropped_document_is_not_encoded_and_the_cost_says_so(folders, words, texts):
    ranking = Ranker.load(folders / "trained").rank(words[5], texts, drop=[0.8])
    assert [stage.candidates for stage in ranking.stages] == [30, 6]
    assert {item.exit for item in ranking} == {0, 4}
    assert ranking.relative_cost == 0.2
    assert 0.1 < ranking.flops / ranking.full_flops < 0.35  # texts differ in length
    assert Ranker.load(folders / "trained").rank(words[5], texts, drop=0).relative_cost == 1


def test_what_exit_0_has_tokenised_is_not_tokenised_again(folders, words, texts, monkeypatch):
    candidates = [{"text": text, "context": " ".join(words[:place])} for place, text in enumerate(texts)]
    candidates += [candidates[3], {"text": " ".join(words[:60])}, {"text": ""}]  # twice, too long, nothing
    groups = [(words[5], candidates), (" ".join(words[:40]), candidates[::2])]
    without = list(Ranker.load(folders / "without").rank_many(groups, long="first"))
    ranker = Ranker.load(folders / "trained")
    tokenised = []
    document = ranker.stages[0].tokenizer.document
    encode = document.token_ids
    monkeypatch.setattr(document, "token_ids", lambda some: tokenised.extend(some) or encode(some))
    for own, expected in zip(ranker.rank_many(groups, drop=0, long="first"), without, strict=True):
        assert [item.index for item in own] == [item.index for item in expected]
        assert [item.raw_score for item in own] == pytest.approx([item.raw_score for item in expected], abs=1e-6)
        assert [item.truncated for item in own] == [item.truncated for item in expected]
    assert len(tokenised) < 2 * len(candidates)  # each text and its context


def test_with_a_store_exit_0_is_left_out(folders, words, texts, tmp_path):
    encoder = document_encoder(folders / "trained")
    store = store_for(encoder, tmp_path / "store", "fp32")
    fill(store, encoder, texts)
    ranker = Ranker.load(folders / "trained", store=store)
    assert ranker.exits == (4,)
    whole = scores_of(folders / "trained", words[5], texts)
    assert ranker.score(words[5], texts) == pytest.approx(1 / (1 + np.exp(-whole[1])), abs=1e-4)


def test_a_saved_plan_is_read_with_and_without_a_store(folders, words, texts, tmp_path):
    groups = [
        Group(word, tuple(Candidate(text, int(word in text.split()), f"c{n}") for n, text in enumerate(texts)), word)
        for word in words[5:15]
    ]
    cut(folders / "without", (0, 4), tmp_path / "tuned", texts=texts)
    tuning = cascada.tune(tmp_path / "tuned", groups, budget=0.5, save=True)
    assert float(tuning.chosen.plan[0]) >= 0.5
    assert Ranker.load(tmp_path / "tuned").plan == tuning.chosen.plan
    encoder = document_encoder(tmp_path / "tuned")
    store = store_for(encoder, tmp_path / "store")
    fill(store, encoder, texts)
    assert Ranker.load(tmp_path / "tuned", store=store).plan == ()


def test_calibrating_keeps_the_order_of_both_exits(folders, words, texts, tmp_path):
    random = np.random.default_rng(0)
    groups = [
        Group(word, tuple(Candidate(text, int(random.random() < 0.3), f"c{n}") for n, text in enumerate(texts)), word)
        for word in words[5:10]
    ]
    before = scores_of(folders / "trained", words[5], texts)
    labelled = [
        Group(
            group.question,
            tuple(
                Candidate(one.text, int(score > np.median(own)), one.id)
                for one, score in zip(group.candidates, own, strict=True)
            ),
            group.id,
        )
        for group in groups
        for own in [scores_of(folders / "trained", group.question, texts).mean(0)]
    ]
    calibrate(folders / "trained", labelled, tmp_path / "calibrated")
    after = scores_of(tmp_path / "calibrated", words[5], texts)
    for exit in (0, 1):
        assert np.argsort(after[exit], kind="stable").tolist() == np.argsort(before[exit], kind="stable").tolist()


def test_scores_that_are_added_cannot_be_calibrated(encoder_folder):
    model = DecoupledRanker(load_encoder(encoder_folder), DecoupledShape(exits=(4, 5), scores="added", **SHAPE))
    with pytest.raises(CascadaError, match="cannot be calibrated"):
        model.rescale(5, 1.0, 0.0)


def test_training_counts_word_pieces(encoder_folder, words, texts, tmp_path):
    groups = [Group(word, tuple(Candidate(text, int(word in text.split())) for text in texts)) for word in words[5:9]]
    write_jsonl(groups, tmp_path / "data.jsonl")
    recipe = {
        "output": str(tmp_path / "run"),
        "model": {"kind": "decoupled", "encoder": str(encoder_folder), "exits": [0, 4], **SHAPE},
        "train": {"source": str(tmp_path / "data.jsonl")},
        "dev": {"source": str(tmp_path / "data.jsonl")},
        "training": {"epochs": 1},
    }
    (trained,) = cascada.train(recipe)
    assert load(tmp_path / "run").exit_zero.weights.unique().numel() > 2
    assert Ranker.load(trained.model).exits == (0, 4)
