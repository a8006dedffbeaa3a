"""Exits below the join compare what the towers have computed so far; who leaves there is not encoded further."""

import numpy as np
import pytest
import torch
from random_engine import SIZES, engine_of, in_one_piece

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import load_encoder
from cascada.ranking import Ranker
from cascada.store import fill, store_for
from cascada.systems.decoupled.engine import document_encoder
from cascada.systems.decoupled.folder import load, save
from cascada.systems.decoupled.meeting import late_interaction
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.shape import DecoupledShape
from cascada.systems.decoupled.stages import stages_of
from cascada.systems.decoupled.towers import encode_layers
from cascada.training.recipes import parse_recipe
from cascada.training.single_run import build_trainer, train_model

BELOW = {"join": 3, "exits": (1, 2, 3), "towers": "shared", "match": "late", **SIZES}
KINDS = {
    "shared": BELOW,
    "two towers and a joint layer": {"join": 3, "exits": (1, 3, 4), "match": "late", "scores": "added", **SIZES},
    "nothing at the join": {"join": 3, "exits": (0, 2, 4), "match": "late", "keep": 8, **SIZES},
    "both similarities at the join": BELOW | {"match": "both"},
    "prompts": BELOW | {"question_prompt": "bada ", "document_prompt": "bade bado "},
}


@pytest.fixture(scope="module", params=KINDS.values(), ids=KINDS)
def engine(request, encoder_folder):
    return engine_of(encoder_folder, **request.param)


@pytest.fixture(scope="module")
def texts(words):
    return [" ".join(words[i : i + 1 + i * 5 % 40]) for i in range(30)]


@pytest.fixture(scope="module")
def question(words):
    return f"{words[5]} {words[50]}?"


def scores(ranking):
    return {item.index: item.scores for item in ranking}


def test_every_exit_scores_as_the_model_in_one_piece(engine, question, texts):
    ranker = Ranker(stages_of(engine))
    assert ranker.exits == engine.shape.exits
    found = scores(ranker.rank(question, texts, drop=0, long="first"))
    layers = len(engine.shape.layer_exits)
    for index, text in enumerate(texts):
        assert found[index][-layers:] == pytest.approx(in_one_piece(engine, question, text), abs=1e-4)


def test_an_exit_below_the_join_is_late_interaction_of_the_states_there(encoder_folder, question, texts):
    engine = engine_of(encoder_folder, **BELOW)
    model, tokenizer = engine.model, engine.tokenizer
    asked, read = tokenizer.question.encode_alone([question]), tokenizer.document.encode_alone(texts)
    sides = []
    for side, count in ((asked, 1), (read, len(texts))):
        ids, mask, _ = side.padded(np.arange(count), tokenizer.pad_id)
        (states,) = encode_layers(model.document, torch.from_numpy(ids), torch.from_numpy(mask), [2])
        sides.append((states, torch.from_numpy(mask)))
    with torch.inference_mode():
        of = torch.zeros(len(texts), dtype=torch.int64), torch.arange(len(texts))
        similarity = late_interaction((*sides[0], of[0]), (*sides[1], of[1]))
        expected = model.score((similarity,), 2)[:, 1]
    found = scores(Ranker(stages_of(engine)).rank(question, texts, drop=0, long="first"))
    assert [found[index][1] for index in range(len(texts))] == pytest.approx(expected.tolist(), abs=1e-4)


def test_who_survives_scores_as_without_drops_and_the_others_cost_no_more_layers(engine, question, texts):
    ranker = Ranker(stages_of(engine))
    whole = scores(ranker.rank(question, texts, drop=0, long="first"))
    ranking = ranker.rank(question, texts, drop=0.5, long="first")
    for index, own in scores(ranking).items():
        assert own == pytest.approx(whole[index][: len(own)], abs=1e-4)
    assert len({item.exit for item in ranking}) == len(ranker.exits)
    assert 0 < ranking.flops < 0.8 * ranking.full_flops


def test_several_questions_share_a_document_and_contexts_are_read_at_every_exit(encoder_folder, words, texts):
    engine = engine_of(encoder_folder, **BELOW)
    ranker = Ranker(stages_of(engine))
    candidates = [{"text": text, "context": " ".join(words[place : place + 3])} for place, text in enumerate(texts)]
    groups = [(words[3], candidates), (words[7], [*candidates[::2], candidates[0], {"text": ""}]), (words[9], texts)]
    together = [scores(one) for one in ranker.rank_many(groups, drop=0.4, long="first")]
    for own, group in zip(together, groups, strict=True):
        alone = scores(ranker.rank(*group, drop=0.4, long="first"))
        assert own.keys() == alone.keys()
        for index in own:
            assert own[index] == pytest.approx(alone[index], abs=1e-4)
    assert together[0][3][0] != pytest.approx(scores(ranker.rank(words[3], texts, drop=0.4))[3][0], abs=1e-5)


def test_a_store_has_encodings_at_the_join_so_exits_below_it_are_left_out(encoder_folder, question, texts, tmp_path):
    engine = engine_of(encoder_folder, **BELOW)
    save(engine.model, tmp_path / "ranker", tokenizer=encoder_folder, card="")
    encoder = document_encoder(tmp_path / "ranker")
    store = store_for(encoder, tmp_path / "store", "fp32")
    fill(store, encoder, texts)
    ranker = Ranker.load(tmp_path / "ranker", store=store)
    assert ranker.exits == (3,)
    whole = scores(Ranker(stages_of(engine)).rank(question, texts, drop=0, long="first"))
    for index, own in scores(ranker.rank(question, texts)).items():
        assert own == pytest.approx(whole[index][-1:], abs=1e-4)


def test_a_deadline_that_passes_between_exits_gives_the_order_of_the_last_one(encoder_folder, question, texts):
    stages = stages_of(engine_of(encoder_folder, **BELOW))
    whole = scores(Ranker(stages).rank(question, texts, drop=0, long="first"))
    late = stages[1]
    score = late.score
    late.score = lambda pairs, state, deadline: score(pairs, state, deadline.after(-1))
    ranking = Ranker(stages).rank(question, texts, drop=0, long="first", deadline_ms=60_000)
    assert not ranking.complete
    assert [item.index for item in ranking] == sorted(whole, key=lambda index: (-whole[index][0], index))


@pytest.mark.parametrize("gradient", ["embeddings", "exit-before"])
def test_they_learn_together(content_in, encoder_folder, tmp_path, gradient):
    content = content_in(tmp_path, "run", epochs=2, exits={"sample": "all", "gradient": gradient}, learning_rate=1e-3)
    content["model"] = {"kind": "decoupled", "encoder": str(encoder_folder), **BELOW, "exits": [0, 1, 3]}
    folder = train_model(parse_recipe(content, "recipe"))
    assert Ranker.load(folder).exits == (0, 1, 3)
    trained, begun = load(folder).state_dict(), load_encoder(encoder_folder).state_dict()
    for layer in (0, 2):
        name = f"encoder.encoder.layer.{layer}.output.dense.weight"
        assert not trained[f"document.{name}"].equal(begun[name])


@pytest.mark.parametrize("match", ["late", "both"])
def test_scores_start_at_the_scale_of_their_similarities(content_in, encoder_folder, tmp_path, match):
    """Whatever the encoder's similarities deviate by, the scores of a question's candidates deviate by about 2."""
    content = content_in(tmp_path, "run", epochs=1)
    content["model"] = {"kind": "decoupled", "encoder": str(encoder_folder), **BELOW, "match": match}
    learner = build_trainer(parse_recipe(content, "recipe"), tmp_path / "run").learner
    examples = learner.examples
    for exit in (1, 2, 3):
        deviations = []
        for number in range(8):
            batch = examples.collate(np.flatnonzero(examples.owner == number).tolist())
            del batch["labels"], batch["owner"]
            with torch.inference_mode():
                logits = learner.model.eval()(**batch, exits=[exit])[exit]
            deviations.append(float((logits[:, 1] - logits[:, 0]).std(correction=0)))
        assert 1 < np.mean(deviations) < 4
    if match == "both":
        assert learner.model.cosine.others[0] != 1, "the one that deviates less counts more"


def test_training_above_a_store_refuses_exits_that_it_cannot_train(content_in, encoder_folder, tmp_path):
    content = content_in(tmp_path, "run", epochs=1, store=str(tmp_path / "store"))
    content["model"] = {"kind": "decoupled", "encoder": str(encoder_folder), **BELOW}
    with pytest.raises(CascadaError, match="at the join only: leave out the exits below it, 1, 2"):
        train_model(parse_recipe(content, "recipe"))


def test_states_that_lack_their_norm_are_not_compared(encoder_folders):
    with pytest.raises(CascadaError, match="between the layers of a modernbert encoder have no norm"):
        DecoupledRanker(load_encoder(encoder_folders["modernbert"]), DecoupledShape(**BELOW))
