"""The peers are measured on the ranker's own layers."""

import json

import numpy as np
import onnxruntime
import pytest
import torch

from cascada.bench.engines import SENTENCE_TRANSFORMERS
from cascada.bench.measure import MeasuringPlan, measure
from cascada.bench.peer_folder import write_graphs, write_peer
from cascada.systems.cascade.folder import load


@pytest.fixture(scope="module")
def peer(tmp_path_factory, cascade_folder):
    folder = tmp_path_factory.mktemp("peer") / "peer"
    write_peer(cascade_folder, folder)
    return folder


IDS = torch.arange(5, 17).reshape(2, 6)
ONES = torch.ones_like(IDS)


def test_a_cross_encoder_in_the_peers_layout_computes_the_rankers_states(peer, cascade_folder):
    from transformers import AutoModelForSequenceClassification

    ranker, model = load(cascade_folder), AutoModelForSequenceClassification.from_pretrained(peer).eval()
    types = torch.zeros_like(IDS)
    with torch.inference_mode():
        ours = ranker.encoder.run(ranker.encoder.embed(IDS, types), ONES.bool(), 0, ranker.shape.exits[-1])
        theirs = model.base_model(IDS, ONES, types).last_hidden_state
    assert model.config.num_labels == 1
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_the_peers_graphs_agree_with_torch(peer):
    from transformers import AutoModelForSequenceClassification

    write_graphs(peer)
    model = AutoModelForSequenceClassification.from_pretrained(peer).eval()
    inputs = {"input_ids": IDS, "attention_mask": ONES, "token_type_ids": torch.zeros_like(IDS)}
    with torch.inference_mode():
        expected = model(**inputs).logits.numpy()
    for name, tolerance in (("fp32", 1e-4), ("int8", 0.1)):
        session = onnxruntime.InferenceSession(str(peer / "onnx" / f"{name}.onnx"))
        (logits,) = session.run(None, {key: value.numpy() for key, value in inputs.items()})
        np.testing.assert_allclose(logits, expected, atol=tolerance)


def test_sentence_transformers_is_measured_on_it(peer, tmp_path, words):
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps({"question": words[0], "candidates": words[1:5]}))
    plan = MeasuringPlan((4,), repeats=1, seconds=1, pause=0)
    (row,) = measure([SENTENCE_TRANSFORMERS], {"peer": peer}, plan, texts=texts, max_length=64)
    assert row["problem"] is None
    assert [cell["candidates"] for cell in row["cells"]] == [4]
    assert row["versions"]["sentence-transformers"]
