"""Write a trained ranker with other exits: fewer of them, or exit 0 in front."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cascada.core.errors import CascadaError
from cascada.core.folder import kind_of, read_card, read_shape, require_no_ranker, require_trained
from cascada.data import Group
from cascada.systems.registry import part
from cascada.text.pairs import PairTokenizer

HELD_OUT = 5
"""One question in this many is held out, to compare the learned weights with IDF on."""


def cut(
    folder: Path,
    exits: Sequence[int],
    output: Path,
    *,
    texts: Iterable[str] | None = None,
    learn: Sequence[Group] | None = None,
    check: Sequence[Group] | None = None,
) -> str | None:
    """Write the ranker in `folder` to `output`, with some of its exits.

    Exit 0 can be added to every transformer and decoupled ranker; `texts` are what the IDF of its word pieces is
    computed from. With `learn`, the weights of word pieces are learned from these lists, starting from IDF or the
    weights that exit 0 has, and kept if they measure better than those on `check`, or on a fifth of the questions that
    is left out. Returns a sentence on how they compare.
    """
    kind = kind_of(folder)
    require_trained(folder, kind, "a trained ranker")
    room = part(kind, "folder")
    if not hasattr(room, "with_exits"):
        raise CascadaError(f"{folder} is a {kind} ranker, which has no exits to choose from.")
    known = read_shape(folder)["exits"]
    unknown = [exit for exit in exits if exit and exit not in known]
    if unknown:
        raise CascadaError(f"{folder} has no exit at layer {unknown[0]}; it has {', '.join(map(str, known))}.")
    idf_texts = None if texts is None else [*texts]
    _check_exit_zero(exits, known, idf_texts, learns=learn is not None)
    require_no_ranker(output)
    model = room.with_exits(folder, tuple(sorted(exits)))
    if model.exit_zero and idf_texts is not None:
        tokenizer = PairTokenizer.load(folder, max_length=model.shape.max_length, pad_id=model.pad_id)
        model.exit_zero.set_idf(tokenizer, idf_texts)
    before = "by the weights it had" if texts is None else "by IDF alone"
    compared = _learn(model, folder, learn, check, before) if learn is not None else None
    kept = ", ".join(map(str, model.shape.exits))
    card = f"# A Cascada ranker\n\nExits {kept} of {folder.name}, without further training; its card follows.\n\n"
    room.save(model, output, tokenizer=folder, card=card + read_card(folder))
    return compared


def _check_exit_zero(exits: Sequence[int], known: Sequence[int], texts: list[str] | None, *, learns: bool) -> None:
    """Reject texts and lists that are of no use to exit 0, and an exit 0 without the texts that it needs."""
    if 0 in exits and 0 not in known and texts is None:
        raise CascadaError("Exit 0 weighs word pieces by IDF: name a file of texts to compute it from (--texts FILE).")
    if texts is not None and 0 not in exits:
        raise CascadaError("Texts are what exit 0 takes IDF from: have it among the exits (--exits 0,…).")
    if texts is not None and not any(text.strip() for text in texts):
        raise CascadaError("There are no texts to compute the IDF of exit 0 from: every one of them is empty.")
    if learns and 0 not in exits:
        raise CascadaError("The weights to learn are those of exit 0: have it among the exits (--exits 0,…).")


def _learn(model: Any, folder: Path, learn: Sequence[Group], check: Sequence[Group] | None, before: str) -> str:
    """`before` says in words which weights exit 0 has so far."""
    from cascada.systems.exit_zero_learning import learn_weights

    if check is None:
        order = np.random.default_rng(0).permutation(len(learn))
        check = [learn[place] for place in order[::HELD_OUT]]
        left_out = set(order[::HELD_OUT].tolist())
        learn = [group for place, group in enumerate(learn) if place not in left_out]
    if not learn or not check:
        raise CascadaError("There are too few questions to learn from: at least two, and one more to compare on.")
    tokenizer = PairTokenizer.load(folder, max_length=model.shape.max_length, pad_id=model.pad_id)
    encoder = getattr(model, "encoder", None) or model.document
    vectors = model.exit_zero.vectors(encoder)
    return learn_weights(model.exit_zero, vectors, tokenizer, learn, check).sentence(before)
