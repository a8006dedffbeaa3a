"""A question and candidate sentences to measure with: real words, lengths as real sentences have them."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import AutoModel, BertConfig

from cascada.bench.peer_folder import write_peer
from cascada.encoders.encoder import StagedEncoder, quiet
from cascada.systems.cascade.folder import save
from cascada.systems.cascade.network import StagedRanker
from cascada.systems.cascade.shape import Shape, default_exits
from cascada.systems.export import export

MEDIAN, SPREAD = 27.0, 0.52
"""Of the sentences' lengths in words, which are log-normal. TREC-QA's training sentences have such a spread; with the
question and the signs between the two, pairs are 44 tokens long on average."""


QUESTION = "when did people first use the river near town?"


_WORDS = """
the of and to in was is for as on with by that at from it an were are which this be had has first one their its new
after but who not they have two been other when there all into time than may world about only over year made most
state would more between city through where some part then called also used during known under war general early while
later school south house national film group same major many such three former four small work life government several
family since water great long people until name number second before local game high large common well song north line
set history being team park street station river public book town music season played area system village east
military power west island best century district order building law country son due population home union club form
court king church road service community end age support land company international party final point single held died
born near director central left production member development science special series event include region modern short
field office white black red green blue open main body human art language word letter story paper report record study
research student teacher class question answer example reason result change effect cause purpose problem value price
money bank trade market business industry product food did use
"""


WORDS = _WORDS.split()
"""Each is one token in BERT's vocabulary, so that words are tokens there."""


def sentences(count: int, seed: int = 0) -> list[str]:
    """So many candidates; the first ones of a longer list are those of a shorter."""
    random = np.random.default_rng(seed)
    return [_sentence(random) for _ in range(count)]


def _sentence(random: np.random.Generator) -> str:
    words = max(3, round(float(random.lognormal(np.log(MEDIAN), SPREAD))) - 1)
    return " ".join(WORDS[place] for place in random.integers(len(WORDS), size=words)).capitalize() + "."


def wordpiece() -> Tokenizer:
    """BERT's way with a small vocabulary: every word of the benchmark's texts is one token."""
    signs = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = dict.fromkeys([*special, *signs, *(f"##{sign}" for sign in signs), *WORDS])
    tokenizer = Tokenizer(models.WordPiece({piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.add_special_tokens(special)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


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
