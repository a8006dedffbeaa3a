"""The folders that engines are measured on, all of one ranker's weights. Run in a child: it needs torch.

    python -m cascada.bench.prepare OUT MODEL       a trained ranker's folder
    python -m cascada.bench.prepare OUT 12x384      random weights in a BERT of that shape

| folder | what |
|---|---|
| `trained` | the ranker, if it is made here |
| `fp32`, `int8` | its exports |
| `peer` | its encoder as the hub has a cross-encoder, see `peer_folder.py` |
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

import torch
from transformers import AutoModel, BertConfig

from cascada.bench.peer_folder import write_peer
from cascada.bench.tokenizer import wordpiece
from cascada.export.write import export
from cascada.models.checkpoint import save
from cascada.models.encoder import StagedEncoder, quiet
from cascada.models.staged import Shape, StagedRanker
from cascada.ranking.exits import default_exits

VOCABULARY = 30_522
"""As large as BERT's, whatever the tokenizer knows: the table of embeddings counts as memory."""


def main(out: Path, source: str) -> None:
    folder = Path(source)
    with quiet():
        if not folder.is_dir():
            layers, _, width = source.partition("x")
            folder = random_ranker(out / "trained", int(layers), int(width))
        export(folder, out / "fp32", "fp32")
        export(folder, out / "int8", "int8")
        write_peer(folder, out / "peer")


def random_ranker(folder: Path, layers: int, width: int, *, max_length: int = 128) -> Path:
    """A cascade with the default exits: how fast it is does not depend on what its weights are."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=12,
        intermediate_size=4 * width,
    )
    model = StagedRanker(
        StagedEncoder(AutoModel.from_config(config)), Shape(default_exits(layers), max_length=max_length)
    )
    folder.mkdir(parents=True)
    wordpiece().save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    save(model, folder, tokenizer=folder, card="# Random weights, to measure speed with\n")
    return folder


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):
        main(Path(sys.argv[1]), sys.argv[2])
    print("{}")
