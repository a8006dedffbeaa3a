"""Exit 0 scores candidates by late interaction over the encoder's input embeddings, before any layer runs."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import cascada
from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.data import Candidate, Group, write_jsonl
from cascada.encoders.late_interaction import NO_MATCH, SCALE, SHIFT, PieceVectors, match, piece_weights
from cascada.metrics.calibration import calibration_error
from cascada.systems.calibrate import calibrate
from cascada.systems.cascade.folder import load, save
from cascada.systems.cascade.shape import CascadeShape
from cascada.systems.cut import cut
from cascada.systems.export import export
from cascada.text.bm25 import idf
from cascada.text.pair_arrays import PairTokens
from cascada.text.pairs import pool
from cascada.text.wordpiece import end_to_end

VOCABULARY = 12
IGNORED = 0


def vectors(seed=0):
    random = np.random.default_rng(seed)
    table = random.normal(size=(VOCABULARY, 5)).astype(np.float32)
    weights = random.uniform(0.1, 3, VOCABULARY).astype(np.float32)
    weights[IGNORED] = 0
    return table, PieceVectors(table, table.mean(0), weights)


def tokens(question, texts):
    ids, asked, answered = pool(end_to_end([question]), end_to_end(texts))
    return PairTokens(ids, asked[[0] * len(texts)], answered, np.zeros(len(texts), bool), special=3)


def best_by_definition(table, found, question, text):
    """The best similarity of each of the question's known pieces; None if question or text has none."""
    own = [id for id in text if found.weights[id] > 0]
    asked = [id for id in question if found.weights[id] > 0]
    if not asked or not own:
        return None
    centred = table - table.mean(0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    return [max(float(unit[one] @ unit[other]) for other in own) for one in asked]


def by_definition(table, found, question, texts):
    asked = [id for id in question if found.weights[id] > 0]
    all_best = [best_by_definition(table, found, question, text) for text in texts]
    weights = []
    for place, id in enumerate(asked):
        present = [best[place] > 0.8 for best in all_best if best is not None]
        weights.append(found.weights[id] * idf(len(present), sum(present)) ** 0.25)
    without_pieces = NO_MATCH if asked else 0.0
    return [without_pieces if best is None else float(np.average(best, weights=weights)) for best in all_best]


pieces = st.lists(st.integers(0, VOCABULARY - 1), max_size=6)


@given(question=pieces, texts=st.lists(pieces, min_size=1, max_size=5), seed=st.integers(0, 5))
@settings(deadline=None)
def test_it_is_the_weighted_mean_of_each_question_pieces_best_match(question, texts, seed):
    table, found = vectors(seed)
    scores, products = match(found, tokens(question, texts), np.arange(len(texts)))
    assert scores == pytest.approx(by_definition(table, found, question, texts), abs=1e-5)
    asked = sum(id != IGNORED for id in question)
    assert products.tolist() == [asked * sum(id != IGNORED for id in text) if asked else 0 for text in texts]


def test_a_piece_that_most_candidates_have_counts_for_less():
    table = np.eye(VOCABULARY, dtype=np.float32)
    found = PieceVectors(table, np.zeros(VOCABULARY, np.float32), np.ones(VOCABULARY, np.float32))
    scores, _ = match(found, tokens([1, 2], [[1], [1], [1], [2], [1]]), np.arange(5))
    assert scores[3] > scores[0] == scores[1] == scores[2] == scores[4]


def test_a_piece_in_fewer_texts_weighs_more_and_what_is_no_word_nothing():
    weights = piece_weights([[1, 2, 2], [1, 3], [1]], vocabulary=5, ignored=[0])
    assert weights[0] == 0
    assert weights[1] < weights[2] == weights[3] < weights[4]


# In a ranker


@pytest.fixture(scope="module")
def folders(tmp_path_factory, cascade_folder, words):
    """A cascade with exit 0 in front: trained, and exported in both precisions."""
    base = tmp_path_factory.mktemp("exit0")
    exits = load(cascade_folder).shape.exits
    cut(cascade_folder, (0, *exits), base / "trained", texts=[f"{one} {words[0]}" for one in words[1:40]])
    for precision in ("fp32", "int8"):
        export(base / "trained", base / precision, precision)
    return base


def test_no_other_score_changes(folders, cascade_folder, words):
    texts = [f"{one} {other}" for one, other in zip(words[:20], words[20:40], strict=True)]
    before = next(iter(Ranker.load(cascade_folder).exit_scores([(words[3], texts)])))
    after = next(iter(Ranker.load(folders / "trained").exit_scores([(words[3], texts)])))
    assert after[1:] == pytest.approx(before, abs=1e-6)


def test_exit_0_alone_ranks_texts_with_the_rare_word_first(folders, words):
    texts = [f"{words[0]} {words[5]}", f"{words[0]} {words[6]}", words[0], words[7]]
    ranking = Ranker.load(folders / "trained").rank(f"{words[0]} {words[6]}", texts, drop=[0.8, 0])
    assert ranking[0].index == 1
    assert [stage.candidates for stage in ranking.stages] == [4, 1, 1]
    assert [item.exit for item in ranking] == [4, 0, 0, 0]


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_an_exported_ranker_scores_as_the_trained_one(folders, words, precision):
    groups = [(words[number], [f"{words[number]} {word}" for word in words[:15]]) for number in range(3)]
    trained, exported = (list(Ranker.load(folders / name).exit_scores(groups)) for name in ("trained", precision))
    for one, other in zip(trained, exported, strict=True):
        assert other[0] == pytest.approx(one[0], abs=1e-4 if precision == "fp32" else 0.2)


def test_the_embeddings_are_not_stored_twice(folders, cascade_folder, tmp_path):
    export(cascade_folder, tmp_path / "without", "int8")
    more = (folders / "int8" / "weights.bin").stat().st_size - (tmp_path / "without" / "weights.bin").stat().st_size
    assert more == 0


def test_questions_ranked_together_score_as_each_alone(folders, words):
    groups = [(words[number], words[number : number + 7]) for number in range(6)]
    ranker = Ranker.load(folders / "trained")
    together = [scores[0].tolist() for scores in ranker.exit_scores(groups)]
    alone = [next(iter(ranker.exit_scores([group])))[0].tolist() for group in groups]
    assert together == alone


@pytest.mark.parametrize("text", ["", "   ", "\u2603\u2603"], ids=["empty", "spaces", "unknown pieces"])
def test_a_text_without_known_pieces_comes_last_and_is_dropped_first(folders, words, text):
    ranking = Ranker.load(folders / "trained").rank(words[2], [text, words[9], words[2]], drop=[0.5, 0])
    assert ranking[-1].index == 0
    assert (ranking[-1].exit, ranking[-1].raw_score) == (0, SCALE * NO_MATCH + SHIFT)


def test_a_question_of_unknown_pieces_leaves_the_order_as_it_is(folders, words):
    ranking = Ranker.load(folders / "trained").rank("\u2603", words[:8], drop=[0.5, 0])
    assert {item.index for item in ranking if item.exit == 0} == {4, 5, 6, 7}


def test_a_text_that_does_not_fit_is_reported_and_compared_as_far_as_it_is_read(folders, words):
    texts = [" ".join(words[:60] * 20), words[2], words[9]]
    ranking = Ranker.load(folders / "trained").rank(words[2], texts, drop=[0.5, 0], long="first")
    assert {item.index: (item.truncated, item.scores[0]) for item in ranking}[0] == (True, pytest.approx(SCALE + SHIFT))


def test_a_ranker_with_it_can_be_pickled(folders, words):
    ranker = Ranker.load(folders / "trained")
    again = pickle.loads(pickle.dumps(ranker))
    assert again.score(words[2], words[:8], drop=0).tolist() == ranker.score(words[2], words[:8], drop=0).tolist()


def test_its_operations_are_counted_and_it_runs_no_layer(folders, words):
    ranking = Ranker.load(folders / "trained").rank(words[2], words[:8], drop=[0.5, 0])
    first = ranking.stages[0]
    assert 0 < first.flops < ranking.stages[1].flops / 100
    assert ranking.relative_cost == 0.5


def test_without_texts_to_count_in_there_is_no_exit_0_to_add(cascade_folder, tmp_path):
    with pytest.raises(CascadaError, match="--texts"):
        cut(cascade_folder, (0, 4), tmp_path / "out")
    assert not (tmp_path / "out" / "cascada.json").exists()


def test_exit_0_cannot_stand_alone():
    with pytest.raises(CascadaError, match="exits are"):
        CascadeShape((0,))


def test_weights_are_kept_in_the_folder(folders, tmp_path):
    model = load(folders / "trained")
    save(model, tmp_path / "again", tokenizer=folders / "trained", card="")
    assert torch.equal(load(tmp_path / "again").exit_zero.weights, model.exit_zero.weights)
    assert model.exit_zero.weights.unique().numel() > 1


# Around a ranker


def groups_of(words):
    return [
        Group(
            words[number],
            tuple(
                Candidate(f"{word} {words[number]}" * (place % 3 == 0) or word, int(place % 3 == 0), f"c{place}")
                for place, word in enumerate(words[10:19])
            ),
            f"q{number}",
        )
        for number in range(12)
    ]


def test_tuning_searches_its_share_and_replays_what_ranking_does(folders, words, tmp_path):
    groups = groups_of(words)
    tuning = cascada.tune(folders / "trained", groups, budget=0.4, picture=tmp_path / "front.png")
    plan = tuning.chosen.plan
    assert {float(one[0]) for one in tuning.settings.plans} == {0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9}
    result = cascada.evaluate(folders / "trained", groups, drop=list(plan))
    assert result.measures["MAP"] == pytest.approx(tuning.chosen.figures["MAP"])
    assert result.costs["relative_cost"] == pytest.approx(tuning.chosen.figures["relative_cost"])
    assert tuning.single_exits[0]["relative_cost"] == 0
    assert (tmp_path / "front.png").stat().st_size > 10_000


def test_it_stands_in_a_sequence_of_rankers(folders, words):
    ranking = Ranker.load(f"bm25+{folders / 'trained'}").rank(words[2], words[:8], keep=[6, 3, 2])
    assert [stage.candidates for stage in ranking.stages] == [8, 6, 3, 2]


def test_a_deadline_stops_the_layers_and_keeps_its_order(folders, words):
    ranker = Ranker.load(folders / "trained")
    ranking = ranker.rank(words[2], words[:50], deadline_ms=0.001)
    assert not ranking.complete
    assert [item.scores[0] for item in ranking] == sorted((item.scores[0] for item in ranking), reverse=True)


def test_calibrating_makes_its_scores_probabilities_too(folders, words, tmp_path):
    groups = groups_of(words)
    asked = [(group.question, group.texts) for group in groups]
    before = Ranker.load(folders / "trained")
    scores = np.concatenate(list(before.exit_scores(asked)), axis=1)  # (exits, candidates)
    standard = (scores - scores.mean(1, keepdims=True)) / scores.std(1, keepdims=True)
    correct = iter(standard.mean(0) > np.quantile(standard.mean(0), 0.7))  # what all exits tend to prefer
    labelled = [
        replace(group, candidates=tuple(replace(one, label=int(next(correct))) for one in group.candidates))
        for group in groups
    ]
    calibrate(folders / "trained", labelled, tmp_path / "calibrated")
    after = Ranker.load(tmp_path / "calibrated")
    labels = np.concatenate([group.labels for group in labelled]) > 0
    calibrated = np.concatenate(list(after.exit_scores(asked)), axis=1)
    first = before.stages[0].probability
    assert calibration_error(first(calibrated[0]), labels) < calibration_error(first(scores[0]), labels)
    assert np.argsort(calibrated[0], kind="stable").tolist() == np.argsort(scores[0], kind="stable").tolist()


def test_exporting_adds_it(cascade_folder, words, tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(words), encoding="utf-8")
    cascada.export(cascade_folder, tmp_path / "out", texts=tmp_path / "texts.txt")
    ranker = Ranker.load(tmp_path / "out")
    assert ranker.exits == (0, *Ranker.load(cascade_folder).exits)
    assert ranker.rank(words[4], words[:9], drop=[0.8, 0])[0].text == words[4]


def test_training_counts_the_pieces_of_its_texts(encoder_folder, words, tmp_path):
    groups = groups_of(words)
    write_jsonl(groups, tmp_path / "data.jsonl")
    recipe = {
        "output": str(tmp_path / "run"),
        "model": {"encoder": str(encoder_folder), "exits": [0, 2, 4], "max_length": 32},
        "train": {"source": str(tmp_path / "data.jsonl")},
        "dev": {"source": str(tmp_path / "data.jsonl")},
        "training": {"epochs": 1, "exits": {"sample": "all"}},
    }
    (trained,) = cascada.train(recipe)
    weights = load(Path(trained.model)).exit_zero.weights
    assert weights.min() == 0
    assert weights.unique().numel() > 2
    assert Ranker.load(trained.model).exits == (0, 2, 4)
