"""Prepare the folders of a benchmark: the ranker exported in fp32 and int8, and in the layout that the peers load.

Run in a process of its own, since it imports torch: `python -m cascada.bench.prepare OUT SOURCE`, where SOURCE is the
folder of a trained ranker or of a cross-encoder, or a shape such as 12x384, of which a ranker with random weights is
made.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import AutoModel, BertConfig

from cascada.bench.peer_folder import write_peer
from cascada.bench.texts import WORDS
from cascada.encoders.encoder import StagedEncoder, quiet
from cascada.systems.cascade.folder import save
from cascada.systems.cascade.network import CascadeRanker
from cascada.systems.cascade.shape import CascadeShape, default_exits
from cascada.systems.export import export

VOCABULARY = 30_522
"""As in BERT, whatever the tokenizer knows: the embedding table counts towards memory."""


def main(out: Path, source: str) -> dict[str, bool]:
    """Write `fp32`, `int8` and `peer` below `out`, and `trained` if SOURCE is a shape.

    Returns, as `own_head`, whether the peers have the ranker's own head.
    """
    folder = Path(source)
    with quiet():
        if not folder.is_dir():
            layers, _, width = source.partition("x")
            folder = random_ranker(out / "trained", int(layers), int(width))
        export(folder, out / "fp32", "fp32")
        export(folder, out / "int8", "int8")
        return {"own_head": write_peer(folder, out / "peer")}


def random_ranker(folder: Path, layers: int, width: int, *, max_length: int = 128) -> Path:
    """Write a cascade with the default exits and random weights, on which its speed does not depend."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=12,
        intermediate_size=4 * width,
    )
    model = CascadeRanker(
        StagedEncoder(AutoModel.from_config(config)), CascadeShape(default_exits(layers), max_length=max_length)
    )
    folder.mkdir(parents=True)
    wordpiece().save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    save(model, folder, tokenizer=folder, card="# Random weights, to measure speed with\n")
    return folder


def wordpiece() -> Tokenizer:
    """BERT's tokenizer with a small vocabulary, in which every word of the benchmark's texts is one token."""
    characters = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = dict.fromkeys([*special, *characters, *(f"##{character}" for character in characters), *WORDS])
    tokenizer = Tokenizer(models.WordPiece({piece: index for index, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.add_special_tokens(special)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):
        prepared = main(Path(sys.argv[1]), sys.argv[2])
    print(json.dumps(prepared))
