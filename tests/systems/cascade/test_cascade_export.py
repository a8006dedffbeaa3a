"""An exported ranker scores as the trained one does, whatever encoder it has."""

import json
import shutil
from decimal import Decimal

import numpy as np
import pytest
import torch

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import load_encoder
from cascada.graphs.onnx_stages import OnnxStage
from cascada.ranking import Ranker
from cascada.ranking.plan_file import write_plan
from cascada.systems.cascade import folder as checkpoint
from cascada.systems.cascade.engine_onnx import onnx_ranker
from cascada.systems.cascade.engine_torch import torch_ranker
from cascada.systems.cascade.network import CascadeRanker
from cascada.systems.cascade.shape import CascadeShape, read_exported
from cascada.systems.export import export

KINDS = (
    *("bert", "minilm", "roberta", "xlm-roberta", "distilbert", "electra", "mpnet", "albert"),
    *("modernbert", "deberta-v2", "deberta-v2-types"),
)


@pytest.fixture(scope="module")
def texts(words):
    """Sentences of 1 to 30 words, some twice."""
    return [" ".join(words[start : start + 1 + start % 30]) for start in range(60)] * 2


@pytest.fixture(scope="module")
def trained(tmp_path_factory, encoder_folders):
    """A cascade on each kind of encoder, with both heads in turn."""
    home = tmp_path_factory.mktemp("trained")
    torch.manual_seed(5)
    for place, kind in enumerate(KINDS):
        shape = CascadeShape((1, 3, 4), "first" if place % 2 else "mean", max_length=32)
        model = CascadeRanker(load_encoder(encoder_folders[kind]), shape)
        checkpoint.save(model, home / kind, tokenizer=encoder_folders[kind], card="# Card\n")
    return home


def scores(ranker, texts, **options):
    """(candidates, exits) in the order given."""
    ranking = ranker.rank("bada bade?", texts, **options)
    return np.array([item.scores for item in sorted(ranking, key=lambda item: item.index)])


@pytest.mark.parametrize("kind", KINDS)
def test_in_full_precision_every_exit_scores_as_in_torch(trained, tmp_path, texts, kind):
    export(trained / kind, tmp_path / "out", "fp32")
    ours = scores(onnx_ranker(tmp_path / "out", threads=2), texts)
    np.testing.assert_allclose(ours, scores(torch_ranker(trained / kind), texts), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_in_int8_every_exit_ranks_nearly_as_in_torch(trained, tmp_path, texts, kind):
    export(trained / kind, tmp_path / "out", "int8")
    ours, reference = (
        scores(onnx_ranker(tmp_path / "out", threads=1), texts),
        scores(torch_ranker(trained / kind), texts),
    )
    for exit in range(3):
        assert np.corrcoef(ours[:, exit], reference[:, exit])[0, 1] > 0.95


@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_dropping_goes_by_the_same_rule(trained, tmp_path, texts, precision):
    export(trained / "bert", tmp_path / "out", precision)
    ranking = onnx_ranker(tmp_path / "out", threads=2).rank("bada bade?", texts, drop=0.5)
    assert [stage.candidates for stage in ranking.stages] == [120, 60, 30]
    assert sorted(item.index for item in ranking) == list(range(120))


def test_operations_are_counted_as_in_torch_with_wider_heads_too(encoder_folders, tmp_path, texts):
    model = CascadeRanker(load_encoder(encoder_folders["bert"]), CascadeShape((1, 2), max_length=32, head_width=96))
    checkpoint.save(model, tmp_path / "wide", tokenizer=encoder_folders["bert"], card="# Card\n")
    export(tmp_path / "wide", tmp_path / "out", "fp32")
    exported, reference = onnx_ranker(tmp_path / "out", threads=1), torch_ranker(tmp_path / "wide")
    assert exported.rank("bada?", texts).flops == reference.rank("bada?", texts).flops


def test_one_thread_and_several_give_the_same(trained, tmp_path, texts):
    export(trained / "bert", tmp_path / "out", "fp32")
    one, four = (scores(onnx_ranker(tmp_path / "out", threads=threads), texts) for threads in (1, 4))
    np.testing.assert_allclose(one, four, atol=1e-5)


def test_in_int8_a_score_does_not_depend_on_the_other_candidates(trained, tmp_path, words):
    export(trained / "bert", tmp_path / "out", "int8")
    ranker = onnx_ranker(tmp_path / "out", threads=1)
    texts = [*(" ".join(words[start : start + 12]) for start in range(8)), "b a d a ! " * 8]
    together = scores(ranker, texts)
    alone = np.concatenate([scores(ranker, [text]) for text in texts])
    assert np.abs(together - alone).max() < 0.02 * np.ptp(together)


def test_a_deadline_stops_it_and_leaves_the_order_of_the_stage_before(trained, tmp_path, texts):
    export(trained / "bert", tmp_path / "out", "fp32")
    ranking = onnx_ranker(tmp_path / "out", threads=2).rank("bada bade?", texts, deadline_ms=1e-6)
    assert not ranking.complete
    assert [stage.candidates for stage in ranking.stages] == [120, 0, 0]


def test_the_folder_says_what_it_is(trained, tmp_path):
    export(trained / "bert", tmp_path / "out")
    about = read_exported(tmp_path / "out")
    assert (about.exits, about.precision, about.max_length, about.hidden) == ((1, 3, 4), "int8", 32, 32)
    keys = {"format", "engine", "exits", "head", "max_length", "hidden", "feed_forward", "pad_id", "kept", "precision"}
    assert set(json.loads((tmp_path / "out" / "cascada.json").read_text())) == keys | {"head_width"}
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"stage-1.onnx", "stage-3.onnx", "stage-4.onnx", "tokenizer.json", "README.md", "manifest.json"} <= names


@pytest.fixture
def spoilt(trained, tmp_path):
    export(trained / "bert", tmp_path / "out")
    return tmp_path / "out"


def test_a_changed_file_is_rejected(spoilt):
    path = spoilt / "stage-3.onnx"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(CascadaError, match=r"stage-3.onnx is not the file that was exported"):
        read_exported(spoilt)


def test_a_file_that_is_missing_is_named(spoilt):
    (spoilt / "stage-3.onnx").unlink()
    with pytest.raises(CascadaError, match=r"lacks stage-3.onnx"):
        read_exported(spoilt)


def test_a_damaged_manifest_is_rejected(spoilt):
    (spoilt / "manifest.json").write_text("[]")
    with pytest.raises(CascadaError, match=r"manifest.json is damaged"):
        read_exported(spoilt)


def test_a_ranker_is_not_written_over(spoilt, trained):
    with pytest.raises(CascadaError, match="already holds a ranker"):
        export(trained / "bert", spoilt)


def test_an_activation_that_has_no_operator_is_rejected(trained, tmp_path):
    folder = shutil.copytree(trained / "bert", tmp_path / "silu")
    config = json.loads((folder / "config.json").read_text()) | {"hidden_act": "silu"}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(CascadaError, match="activation is silu"):
        export(folder, tmp_path / "out")


def test_an_exported_ranker_is_loaded_like_any_other(trained, spoilt, texts):
    ranker = Ranker.load(spoilt)
    assert isinstance(ranker.stages[0], OnnxStage)
    assert ranker.exits == (1, 3, 4)
    assert len(Ranker.load(f"{spoilt}+{trained / 'bert'}").stages) == 6


def test_it_cannot_be_trained_on(spoilt):
    with pytest.raises(CascadaError, match="is an exported ranker, for ranking only"):
        checkpoint.load(spoilt)


def test_a_drop_plan_is_exported_too(trained, tmp_path, texts):
    folder = shutil.copytree(trained / "bert", tmp_path / "tuned")
    write_plan(folder, (Decimal("0.5"), Decimal("0.25")), (1, 3, 4), {})
    export(folder, tmp_path / "out")
    assert [stage.candidates for stage in Ranker.load(tmp_path / "out").rank("bada", texts).stages] == [120, 60, 45]


def test_a_head_without_a_graph_is_a_sentence(encoder_folders, tmp_path):
    model = CascadeRanker(load_encoder(encoder_folders["bert"]), CascadeShape((1, 3, 4), "mean-without-first"))
    checkpoint.save(model, tmp_path / "trained", tokenizer=encoder_folders["bert"], card="")
    with pytest.raises(CascadaError, match="head: mean-without-first cannot be exported; head: mean can"):
        export(tmp_path / "trained", tmp_path / "out", "fp32")
