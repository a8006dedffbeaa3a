"""An encoder run a few layers at a time computes what the encoder's own forward pass computes."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, BertConfig, BertForMaskedLM

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import StagedEncoder, load_encoder, new_encoder, starting_encoder
from cascada.text.pairs import PairTokenizer

ARCHITECTURES = (
    *("bert", "minilm", "roberta", "xlm-roberta", "distilbert", "electra", "mpnet", "albert"),
    *("modernbert", "modernbert-mean", "deberta-v2", "deberta-v2-types", "deberta-v2-conv"),
)


def real_tokens(folder, words):
    """Pairs of different lengths, so that padding is present: ids, mask and types as tensors."""
    pad_id = json.loads((folder / "config.json").read_text())["pad_token_id"]
    tokenizer = PairTokenizer.load(folder, max_length=64, pad_id=pad_id)
    texts = [" ".join(words[:count]) for count in (1, 7, 30)]
    encoded = tokenizer.encode([" ".join(words[40:44])], texts, [0, 0, 0])
    ids, mask, types = map(torch.from_numpy, encoded.padded([0, 1, 2], pad_id))
    assert not mask.all()
    return ids, mask, types


def own_states(model, ids, mask, types):
    """All hidden states of the library's own forward pass, from embeddings to the last layer."""
    inputs = {"input_ids": ids, "attention_mask": mask.long()}
    if getattr(model.config, "type_vocab_size", 0) > 1 and model.config.model_type != "mpnet":
        inputs["token_type_ids"] = types
    with torch.inference_mode():
        output = model(**inputs, output_hidden_states=True)
        assert torch.equal(output.last_hidden_state, output.hidden_states[-1])
        if model.config.model_type != "modernbert":
            return output.hidden_states
        inner = map(model.final_norm, output.hidden_states[1:-1])
        return (*output.hidden_states[:1], *inner, output.last_hidden_state)


def close(found, expected, mask):
    torch.testing.assert_close(found[mask], expected[mask], atol=1e-5, rtol=1e-5)


@pytest.fixture(scope="module", params=ARCHITECTURES)
def case(request, encoder_folders, words):
    folder = encoder_folders[request.param]
    tokens = real_tokens(folder, words)
    return folder, tokens, own_states(AutoModel.from_pretrained(folder).eval(), *tokens)


def states_of(encoder, tokens, *stops):
    ids, mask, types = tokens
    with torch.inference_mode():
        states = encoder.eval().embed(ids, types)
        for first, last in zip((0, *stops), stops, strict=False):
            states = encoder.run(states, mask, first, last)
        return encoder.output(states) if stops else states


def test_embed_and_run_equal_the_models_own_forward_pass(case):
    folder, tokens, expected = case
    close(states_of(load_encoder(folder), tokens, 4), expected[-1], tokens[1])


def test_the_models_own_forward_pass_stays_what_it_is(case):
    folder, tokens, expected = case
    model = AutoModel.from_pretrained(folder).eval()
    StagedEncoder(model)
    close(own_states(model, *tokens)[-1], expected[-1], tokens[1])


def test_embed_gives_the_states_before_the_first_layer(case):
    folder, tokens, expected = case
    close(states_of(load_encoder(folder), tokens), expected[0], tokens[1])


def test_running_in_pieces_is_running_at_once(case):
    folder, tokens, expected = case
    encoder = load_encoder(folder)
    close(states_of(encoder, tokens, 2, 4), expected[-1], tokens[1])
    close(states_of(encoder, tokens, 1, 2, 3), expected[3], tokens[1])


@pytest.mark.parametrize("layers", [1, 3])
def test_an_encoder_cut_to_its_first_layers_gives_the_states_after_them(case, layers):
    folder, tokens, expected = case
    encoder = load_encoder(folder, layers=layers)
    assert encoder.depth == layers
    close(states_of(encoder, tokens, layers), expected[layers], tokens[1])


def test_padding_does_not_change_a_pairs_states(case):
    folder, (ids, mask, types), _ = case
    encoder = load_encoder(folder)
    length = int(mask[0].sum())
    alone = states_of(encoder, (ids[:1, :length], mask[:1, :length], types[:1, :length]), 4)
    among = states_of(encoder, (ids, mask, types), 4)
    torch.testing.assert_close(among[0, :length], alone[0], atol=1e-5, rtol=1e-5)


def test_every_parameter_of_the_encoder_takes_part(case):
    """A parameter that gets no gradient stops a distributed training run."""
    folder, (ids, mask, types), _ = case
    encoder = load_encoder(folder)
    states = encoder.output(encoder.run(encoder.embed(ids, types), mask, 0, 4))
    (states * torch.linspace(0, 1, states.shape[-1])).sum().backward()  # the plain sum of normed states is constant
    assert [name for name, value in encoder.named_parameters() if value.grad is None] == []


def test_a_language_models_weights_load_by_their_prefix(tmp_path, encoder_folder, words):
    """A checkpoint of BertForMaskedLM has `bert.` before every name."""
    torch.manual_seed(3)
    model = BertForMaskedLM(BertConfig.from_pretrained(encoder_folder)).eval()
    model.save_pretrained(tmp_path)
    assert all(name.startswith(("bert.", "cls.")) for name in load_file(tmp_path / "model.safetensors"))
    tokens = real_tokens(encoder_folder, words)
    expected = own_states(model.bert, *tokens)
    close(states_of(load_encoder(tmp_path), tokens, 4), expected[-1], tokens[1])


def test_weights_of_half_precision_are_computed_with_in_full(tmp_path, encoder_folder):
    model = AutoModel.from_pretrained(encoder_folder).half()
    model.save_pretrained(tmp_path)
    assert {value.dtype for value in load_encoder(tmp_path).parameters()} == {torch.float32}
    assert {value.dtype for value in new_encoder(tmp_path).parameters()} == {torch.float32}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_encoder_knows_how_long_a_text_it_can_read(encoder_folders, name):
    encoder = load_encoder(encoder_folders[name]).eval()
    assert encoder.longest == 512
    ids = torch.full((1, encoder.longest), 100)
    mask = torch.ones_like(ids, dtype=torch.bool)
    with torch.inference_mode():
        assert encoder.run(encoder.embed(ids, torch.zeros_like(ids)), mask, 0, 1).isfinite().all()


# What training starts from


def test_training_starts_from_a_pre_trained_encoder_or_from_that_of_a_trained_ranker(cascade_folder, encoder_folder):
    saved = load_file(cascade_folder / "model.safetensors")
    for layers in (None, 2):
        encoder = starting_encoder(cascade_folder, layers=layers)
        assert encoder.depth == (layers or 4)
        assert all(torch.equal(weight, saved[f"encoder.{name}"]) for name, weight in encoder.state_dict().items())
        pretrained, loaded = (
            starting_encoder(encoder_folder, layers=layers),
            load_encoder(encoder_folder, layers=layers),
        )
        assert all(torch.equal(*pair) for pair in zip(pretrained.parameters(), loaded.parameters(), strict=True))


def test_training_does_not_start_from_damaged_weights(cascade_folder, tmp_path):
    folder = shutil.copytree(cascade_folder, tmp_path / "damaged")
    weights = load_file(folder / "model.safetensors")
    del weights["encoder.encoder.embeddings.word_embeddings.weight"]
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(CascadaError, match="does not hold the weights"):
        starting_encoder(folder)


# What cannot be loaded is reported in a sentence


@pytest.fixture
def folder(tmp_path, encoder_folder):
    """A copy of the tiny BERT, to be spoilt."""
    return shutil.copytree(encoder_folder, tmp_path / "spoilt")


def change_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))


def refused(name, sentence, **options):
    with pytest.raises(CascadaError, match=sentence) as caught:
        load_encoder(name, **options)
    assert "\n" not in str(caught.value)


def test_pickled_weights_are_rejected(folder):
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    refused(folder, "No encoder could be loaded from .*spoilt.*safetensors")


def test_code_in_the_folder_is_never_run(folder, tmp_path):
    trace = tmp_path / "was-run"
    (folder / "evil.py").write_text(f"open({str(trace)!r}, 'w')\nclass Config: ...\nclass Model: ...\n")
    change_config(folder, auto_map={"AutoConfig": "evil.Config", "AutoModel": "evil.Model"})
    assert load_encoder(folder).depth == 4
    assert new_encoder(folder).depth == 4
    change_config(folder, model_type="evil")
    refused(folder, "spoilt/config.json is missing or damaged")
    assert not trace.exists()


def test_an_unsupported_type_is_named_with_those_that_are_supported(folder):
    change_config(folder, model_type="gpt2")
    refused(folder, "spoilt is of type gpt2; supported are bert, roberta")


def test_a_missing_folder_is_named(tmp_path):
    refused(tmp_path / "nowhere", "nowhere is neither a folder .* nor a hub model that can be reached")


def test_an_empty_folder_is_named(tmp_path):
    refused(tmp_path, "config.json is missing or damaged")


def test_a_damaged_config_is_named(folder):
    (folder / "config.json").write_text('{"model_type": ')
    refused(folder, "spoilt/config.json is missing or damaged")


@pytest.mark.parametrize("layers", [0, 5, -1])
def test_layers_that_the_encoder_does_not_have_are_rejected(encoder_folder, layers):
    refused(encoder_folder, f"layers is {layers}, but the encoder has 4", layers=layers)


def test_truncated_weights_are_rejected(folder):
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[: len(content) // 2])
    refused(folder, "No encoder could be loaded from .*spoilt")


def test_weights_of_another_size_are_rejected(folder):
    change_config(folder, hidden_size=16)
    refused(folder, "No encoder could be loaded from .*spoilt.*size")


def test_a_config_that_asks_for_more_layers_than_the_weights_have_is_rejected(folder):
    change_config(folder, num_hidden_layers=6)
    refused(folder, r"spoilt: .*lacks .*layer\.4\.")


def test_weights_of_something_else_are_rejected(folder):
    save_file({"other": torch.zeros(2)}, folder / "model.safetensors", metadata={"format": "pt"})
    refused(folder, "spoilt: .*lacks .*embeddings")
