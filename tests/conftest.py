"""Small real encoders, tokenizers and rankers, made once and saved as the hub would have them."""

import os
import tempfile

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1")  # before torch and the hub's client are imported
os.environ["CASCADA_CACHE"] = tempfile.mkdtemp(prefix="cascada-cache-")

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LAYERS = 4
POSITIONS = 512
MODERN_TOKENS = (("pad", "PAD"), ("cls", "CLS"), ("bos", "CLS"), ("sep", "SEP"), ("eos", "SEP"))
SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_hidden_layers": LAYERS}

# The same examples in every run, for which a machine may take as long as it likes.
settings.register_profile("cascada", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("cascada")


def vocabulary() -> list[str]:
    """Two hundred words that can be said: `baba`, `babe`, …"""
    syllables = [a + b for a in "bdklmnprst" for b in "aeiou"]
    return [first + second for first, second in itertools.islice(itertools.product(syllables[::3], syllables), 200)]


def wordpiece(words: list[str]) -> Tokenizer:
    """BERT's: `[CLS] question [SEP] sentence [SEP]`, types 0 and 1."""
    signs = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *signs, *(f"##{sign}" for sign in signs), *words]
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.add_special_tokens(pieces[:5])
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def byte_pairs(words: list[str]) -> Tokenizer:
    """RoBERTa's: `<s> question </s></s> sentence </s>`, all of type 0."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([" ".join(words)], trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def unigram(words: list[str]) -> Tokenizer:
    """ALBERT's and DeBERTa-v3's: `[CLS] question [SEP] sentence [SEP]`, types 0 and 1."""
    signs = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [(piece, 0.0) for piece in special] + [("▁", -4.0), *((sign, -6.0) for sign in signs)]
    tokenizer = Tokenizer(models.Unigram([*pieces, *((f"▁{word}", -3.0) for word in words)], unk_id=1))
    tokenizer.add_special_tokens(special)
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def modern_byte_pairs(words: list[str]) -> Tokenizer:
    """ModernBERT's: byte pairs, `[CLS] question [SEP] sentence [SEP]`, padding at the end of the vocabulary."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator([" ".join(words)], trainer)
    tokenizer.add_special_tokens(["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"])
    special = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=special
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def save_encoder(folder: Path, config, tokenizer: Tokenizer, kind: str = "AutoModel") -> Path:
    """A model with random weights, of one of transformers' kinds: config.json, model.safetensors, tokenizer.json."""
    import torch
    import transformers

    torch.manual_seed(7)
    getattr(transformers, kind).from_config(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    names = ["input_ids", "attention_mask"] + ["token_type_ids"] * (getattr(config, "type_vocab_size", 0) > 1)
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": tokenizer.id_to_token(config.pad_token_id),
        "model_input_names": names,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture(scope="session")
def words() -> list[str]:
    """Words that are one token each in the BERT-like vocabulary."""
    return vocabulary()


@pytest.fixture(scope="session")
def tokenizers(words) -> dict[str, Tokenizer]:
    return {
        "bert": wordpiece(words),
        "roberta": byte_pairs(words),
        "unigram": unigram(words),
        "modern": modern_byte_pairs(words),
    }


def encoder_configs(tokenizers) -> dict:
    """The config of a tiny encoder of each supported architecture, by name."""
    import transformers as hf

    bert = {"vocab_size": tokenizers["bert"].get_vocab_size(), "initializer_range": 0.1, "pad_token_id": 0}
    roberta = {"vocab_size": tokenizers["roberta"].get_vocab_size(), "initializer_range": 0.1, "pad_token_id": 1}
    from_two = {"max_position_embeddings": POSITIONS + 2}  # these count positions from the padding id on
    pieces = {"vocab_size": tokenizers["unigram"].get_vocab_size(), "initializer_range": 0.1, "pad_token_id": 0}
    modern = {
        "vocab_size": tokenizers["modern"].get_vocab_size(),
        "initializer_range": 0.2,
        "initializer_cutoff_factor": 3.0,
        "local_attention": 16,  # fewer than the tokens of most pairs
        **{f"{name}_token_id": tokenizers["modern"].token_to_id(f"[{token}]") for name, token in MODERN_TOKENS},
    }
    relative = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "norm_rel_ebd": "layer_norm"}
    v3 = {**relative, "position_biased_input": False, "position_buckets": 12, "share_att_key": True}
    v2 = {**relative, "max_relative_positions": 20, "type_vocab_size": 2}
    distil = {"dim": 32, "hidden_dim": 64, "n_heads": 4, "n_layers": LAYERS}
    return {
        "bert": hf.BertConfig(**bert, **SIZES, max_position_embeddings=POSITIONS),
        "minilm": hf.BertConfig(**bert, **{**SIZES, "hidden_size": 24, "num_attention_heads": 12}),
        "roberta": hf.RobertaConfig(**roberta, **SIZES, **from_two, type_vocab_size=1),
        "xlm-roberta": hf.XLMRobertaConfig(**roberta, **SIZES, **from_two, type_vocab_size=1),
        "distilbert": hf.DistilBertConfig(**bert, **distil, max_position_embeddings=POSITIONS),
        "electra": hf.ElectraConfig(**bert, **SIZES, embedding_size=16),
        "mpnet": hf.MPNetConfig(**roberta, **SIZES, **from_two),
        "albert": hf.AlbertConfig(**pieces, **SIZES, embedding_size=16),
        "modernbert": hf.ModernBertConfig(**modern, **SIZES, max_position_embeddings=POSITIONS),
        "modernbert-mean": hf.ModernBertConfig(
            **modern, **SIZES, max_position_embeddings=POSITIONS, classifier_pooling="mean", norm_bias=True
        ),
        "deberta-v2": hf.DebertaV2Config(**pieces, **SIZES, **v3),
        "deberta-v2-types": hf.DebertaV2Config(**pieces, **SIZES, **v2),
        "deberta-v2-conv": hf.DebertaV2Config(**pieces, **SIZES, **v2, conv_kernel_size=3, conv_act="gelu"),
    }


def save_encoders(home: Path, tokenizers, kind: str = "AutoModel", **settings) -> dict[str, Path]:
    configs = encoder_configs(tokenizers)
    for config in configs.values():
        config.update(settings)
    return {name: save_encoder(home / name, configs[name], tokenizers[tokenizer_of(name)], kind) for name in configs}


def tokenizer_of(name: str) -> str:
    """The tokenizer of an architecture."""
    if name.startswith(("albert", "deberta")):
        return "unigram"
    if name.startswith("modernbert"):
        return "modern"
    return "roberta" if name in ("roberta", "xlm-roberta", "mpnet") else "bert"


@pytest.fixture(scope="session")
def encoder_folders(tmp_path_factory, tokenizers) -> dict[str, Path]:
    """One tiny encoder of each supported architecture, by name."""
    return save_encoders(tmp_path_factory.mktemp("encoders"), tokenizers)


@pytest.fixture(scope="session")
def cross_encoder_folders(tmp_path_factory, tokenizers) -> dict[str, Path]:
    """One tiny cross-encoder of each supported architecture, with one output and random weights, as the hub has it."""
    home = tmp_path_factory.mktemp("cross-encoders")
    return save_encoders(home, tokenizers, "AutoModelForSequenceClassification", num_labels=1)


@pytest.fixture(scope="session")
def cross_encoder_folder(cross_encoder_folders) -> Path:
    """A tiny BERT with four layers, a pooler and one output."""
    return cross_encoder_folders["bert"]


@pytest.fixture(scope="session")
def encoder_folder(encoder_folders) -> Path:
    """A tiny BERT with four layers."""
    return encoder_folders["bert"]


def save_ranker(folder: Path, encoder_folder: Path, **shape) -> Path:
    import torch

    from cascada.encoders.encoder import load_encoder
    from cascada.systems.cascade.folder import save
    from cascada.systems.cascade.network import CascadeRanker
    from cascada.systems.cascade.shape import CascadeShape

    torch.manual_seed(11)
    model = CascadeRanker(load_encoder(encoder_folder), CascadeShape(**shape))
    save(model, folder, tokenizer=encoder_folder, card="# A tiny ranker\n")
    return folder


@pytest.fixture(scope="session")
def ranker_folder(tmp_path_factory, encoder_folder) -> Path:
    """A monolithic ranker with random weights, as `cascada train` saves one."""
    folder = tmp_path_factory.mktemp("rankers") / "monolithic"
    return save_ranker(folder, encoder_folder, exits=(LAYERS,), head="first", max_length=64)


@pytest.fixture(scope="session")
def cascade_folder(tmp_path_factory, encoder_folder) -> Path:
    """A cascade with random weights and exits after layers 2 and 4."""
    folder = tmp_path_factory.mktemp("rankers") / "cascade"
    return save_ranker(folder, encoder_folder, exits=(2, LAYERS), head="mean", max_length=64)
