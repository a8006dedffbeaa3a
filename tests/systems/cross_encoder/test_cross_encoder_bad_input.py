"""A folder that cannot be run as a cross-encoder is refused in one sentence."""

import json
import shutil

import pytest

from cascada import Ranker
from cascada.core.errors import CascadaError


@pytest.fixture
def copy(cross_encoder_folder, tmp_path):
    return shutil.copytree(cross_encoder_folder, tmp_path / "model")


def change(folder, **settings):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def refusal(folder):
    with pytest.raises(CascadaError) as caught:
        Ranker.load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"architectures": ["BertModel"]}, "is that of BertModel, not of a cross-encoder"),
        ({"architectures": ["BertForTokenClassification"]}, "is not a cross-encoder"),
        ({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2"}, "is a causal language model"),
        ({"architectures": ["LlamaForCausalLM"], "model_type": "llama"}, "is a causal language model"),
        ({"id2label": {"0": "no", "1": "neutral", "2": "yes"}}, "has 3 classes"),
        ({"architectures": ["FunnelForSequenceClassification"], "model_type": "funnel"}, "is of type funnel"),
        ({"auto_map": {"AutoModel": "own.Model"}}, "wants to run code of its own"),
        ({"sbert_ce_default_activation_function": "torch.nn.modules.activation.Tanh"}, "has the activation function"),
    ],
)
def test_a_config_that_cannot_be_run_is_a_sentence(copy, settings, sentence):
    change(copy, **settings)
    assert sentence in refusal(copy)


def test_weights_as_a_pickle_are_not_read(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    assert "has its weights as a pickle only (pytorch_model.bin)" in refusal(copy)


def test_a_folder_without_weights_is_a_sentence(copy):
    (copy / "model.safetensors").unlink()
    assert "has no weights" in refusal(copy)


@pytest.mark.parametrize("left", [4, 200, 20000])
def test_a_truncated_file_of_weights_is_a_sentence(copy, left):
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:left])
    assert "No cross-encoder could be loaded from" in refusal(copy)


def test_an_encoders_weights_lack_the_head(copy, encoder_folder):
    shutil.copy(encoder_folder / "model.safetensors", copy)
    assert "the file of weights lacks classifier" in refusal(copy)


def test_a_damaged_config_is_a_sentence(copy):
    (copy / "config.json").write_text("{")
    assert "is damaged" in refusal(copy)


def test_further_modules_are_not_read(copy):
    (copy / "modules.json").write_text(json.dumps([{"type": "a.Transformer"}, {"type": "a.Dense"}]))
    assert "is made of several modules (Transformer, Dense)" in refusal(copy)
