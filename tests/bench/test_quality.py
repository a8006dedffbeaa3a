"""What the engines find is measured beside their speed; a peer's row says whose figure it has."""

import json

import pytest
import torch

from cascada import Ranker
from cascada.bench.engines import FULL_INT8, SENTENCE_TRANSFORMERS, Engine, engines_named, with_plan
from cascada.bench.measure import GUARD, MeasuringPlan, measure
from cascada.bench.peer_folder import write_peer
from cascada.bench.quality import Quality
from cascada.core.errors import CascadaError
from cascada.data import Candidate, Group, qrels
from cascada.metrics import evaluate
from cascada.ranking.inputs import RankOptions
from cascada.ranking.runs import run_of
from cascada.systems.export import export

PLAN = MeasuringPlan((4,), repeats=1, seconds=1, pause=0)

NEEDS_GUARD = """
import os, signal

PACKAGES = ("numpy",)

def load(folder, max_length, settings):
    def rank(question, candidates):
        if "ONEDNN_MAX_CPU_ISA" not in os.environ:
            os.kill(os.getpid(), signal.SIGILL)
        return [0.0] * len(candidates), {}
    return rank
"""


@pytest.fixture(scope="module")
def quality(words):
    groups = [
        Group(
            words[number],
            tuple(
                Candidate(f"{words[7 * place + number]} {words[place]}", int(place % 4 == number % 4), f"c{place}")
                for place in range(9)
            ),
            f"q{number}",
        )
        for number in range(5)
    ]
    return Quality("dev", groups, qrels(groups), "MAP")


@pytest.fixture(scope="module")
def texts(tmp_path_factory, quality, words):
    path = tmp_path_factory.mktemp("texts") / "texts.json"
    content = {"question": words[0], "candidates": words[1:9], "data": quality.texts()}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def measured(quality, engines, folders, texts, *, own_head):
    def on_rows(rows):
        quality.measured(rows, own_head=own_head)

    rows = measure(engines, folders, PLAN, texts=texts, max_length=64, quality=on_rows)
    return {row["engine"]: row for row in rows}


def test_a_plan_has_the_figures_that_evaluate_finds_for_it(quality, texts, tmp_path, cascade_folder):
    export(cascade_folder, tmp_path / "int8")
    rows = measured(quality, [FULL_INT8, with_plan([0.5])], {"int8": tmp_path / "int8"}, texts, own_head=False)
    ranker = Ranker.load(tmp_path / "int8")
    for name, drop in (("cascada int8 α=0", 0), ("cascada int8, drop 0.5", [0.5])):
        found = evaluate(run_of(ranker, quality.groups, RankOptions(drop=drop)), quality.qrels, ("MAP",)).mean["MAP"]
        assert rows[name]["quality"]["MAP"] == pytest.approx(found)
    costs = [rows[name]["quality"]["relative_cost"] for name in rows]
    assert costs == [1, pytest.approx((9 + 5) / 18)]


def test_lists_that_cannot_be_filled_up_are_rejected_with_the_number_of_texts(quality):
    distinct = len({text for group in quality.groups for text in group.texts})
    quality.check_candidates([9, distinct])
    with pytest.raises(CascadaError) as caught:
        quality.check_candidates([distinct + 1])
    assert str(caught.value) == (
        f"--candidates {distinct + 1}: the 5 questions of dev have only {distinct} distinct texts to fill a list up "
        "with; ask for fewer candidates, or take more --questions."
    )


def test_the_first_tokens_head_goes_with_the_layers_so_that_a_peer_finds_the_same(
    quality, texts, tmp_path, ranker_folder
):
    assert write_peer(ranker_folder, tmp_path / "peer")
    torch_engine = engines_named(["cascada torch"])
    folders = {"peer": tmp_path / "peer", "trained": ranker_folder}
    rows = measured(quality, [SENTENCE_TRANSFORMERS, *torch_engine], folders, texts, own_head=True)
    theirs, ours = (rows[name]["quality"] for name in (SENTENCE_TRANSFORMERS.name, "cascada torch α=0"))
    assert "of" not in theirs
    assert theirs["MAP"] == pytest.approx(ours["MAP"], abs=1e-9)


def test_the_logit_of_the_peer_is_the_raw_score(tmp_path, ranker_folder):
    from transformers import AutoModelForSequenceClassification

    from cascada.systems.cascade.folder import load

    write_peer(ranker_folder, tmp_path / "peer")
    ranker, model = load(ranker_folder), AutoModelForSequenceClassification.from_pretrained(tmp_path / "peer").eval()
    ids = torch.arange(5, 17).reshape(2, 6)
    mask, types = torch.ones_like(ids), torch.zeros_like(ids)
    with torch.inference_mode():
        logits = ranker(ids, mask.bool(), types)[ranker.shape.exits[-1]]
        torch.testing.assert_close(model(ids, mask, types).logits[:, 0], logits[:, 1] - logits[:, 0])


def test_a_cross_encoder_is_the_peers_own_folder(tmp_path, cross_encoder_folder):
    assert write_peer(cross_encoder_folder, tmp_path / "peer")
    assert (tmp_path / "peer" / "model.safetensors").read_bytes() == (
        cross_encoder_folder / "model.safetensors"
    ).read_bytes()


def test_without_the_head_a_peers_row_has_the_full_rankers_figure_and_says_so(quality, texts, tmp_path, cascade_folder):
    assert not write_peer(cascade_folder, tmp_path / "peer")
    export(cascade_folder, tmp_path / "fp32", "fp32")
    engines = [SENTENCE_TRANSFORMERS, *engines_named(["cascada fp32 α=0"])[:1]]
    folders = {"peer": tmp_path / "peer", "fp32": tmp_path / "fp32"}
    rows = measured(quality, engines, folders, texts, own_head=False)
    full = rows["cascada fp32 α=0"]["quality"]["MAP"]
    assert rows[SENTENCE_TRANSFORMERS.name]["quality"] == {"MAP": full, "of": "cascada fp32 α=0"}


def test_an_engine_that_dies_of_an_instruction_runs_without_the_newest_ones(texts, tmp_path):
    (tmp_path / "guarded.py").write_text(NEEDS_GUARD)
    engine = Engine("guarded", str(tmp_path / "guarded"), "int8", ())
    (row,) = measure([engine], {"int8": tmp_path}, PLAN, texts=texts, max_length=64)
    assert (row["problem"], row["environment"]) == (None, GUARD)
    assert len(row["cells"]) == 1
