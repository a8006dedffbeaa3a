"""A folder that cannot be run as a cross-encoder is refused in one sentence."""

import json
import shutil

import pytest
from transformers import AutoConfig, AutoModelForSequenceClassification

from cascada import Ranker
from cascada.core.errors import CascadaError

FAMILIES = ("bert", "albert", "modernbert", "deberta-v2")


@pytest.fixture(params=FAMILIES)
def copy(request, cross_encoder_folders, tmp_path):
    return shutil.copytree(cross_encoder_folders[request.param], tmp_path / "model")


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
        ({"architectures": ["ModernBertDecoderForCausalLM"]}, "is a causal language model"),
        ({"architectures": ["ModernBertModel"]}, "is that of ModernBertModel, not of a cross-encoder"),
        ({"architectures": ["DebertaV2ForMaskedLM"]}, "is not a cross-encoder"),
        ({"architectures": ["FunnelForSequenceClassification"], "model_type": "funnel"}, "is of type funnel"),
        ({"architectures": ["DebertaForSequenceClassification"], "model_type": "deberta"}, "is of type deberta"),
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


@pytest.mark.parametrize("name", FAMILIES)
def test_an_encoders_weights_lack_the_head(cross_encoder_folders, encoder_folders, tmp_path, name):
    copy = shutil.copytree(cross_encoder_folders[name], tmp_path / "model")
    shutil.copy(encoder_folders[name] / "model.safetensors", copy)
    assert "the file of weights lacks classifier" in refusal(copy)


@pytest.mark.parametrize("name", ["num_hidden_groups", "inner_group_num"])
def test_of_albert_only_one_layer_can_be_shared(cross_encoder_folders, tmp_path, name):
    copy = shutil.copytree(cross_encoder_folders["albert"], tmp_path / "model")
    config = AutoConfig.from_pretrained(copy, **{name: 2})
    AutoModelForSequenceClassification.from_config(config).save_pretrained(copy)
    assert f"has {name} 2" in refusal(copy)


def test_a_damaged_config_is_a_sentence(copy):
    (copy / "config.json").write_text("{")
    assert "is damaged" in refusal(copy)


def test_further_modules_are_not_read(copy):
    (copy / "modules.json").write_text(json.dumps([{"type": "a.Transformer"}, {"type": "a.Dense"}]))
    assert "is made of several modules (Transformer, Dense)" in refusal(copy)
