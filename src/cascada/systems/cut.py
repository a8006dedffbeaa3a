"""Write a trained ranker with other exits: fewer of them, or exit 0 in front."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cascada.core.errors import CascadaError
from cascada.core.folder import kind_of, read_card, read_shape, require_no_ranker, require_trained
from cascada.systems.registry import part
from cascada.text.pairs import PairTokenizer


def cut(folder: Path, exits: Sequence[int], output: Path, *, texts: Iterable[str] | None = None) -> None:
    """Write the ranker in `folder` to `output`, with some of its exits.

    Exit 0 can be added to every transformer and decoupled ranker; `texts` are what the IDF of its word pieces is
    computed from.
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
    if 0 in exits and 0 not in known and texts is None:
        raise CascadaError("Exit 0 weighs word pieces by IDF: name a file of texts to compute it from (--texts FILE).")
    require_no_ranker(output)
    model = room.with_exits(folder, tuple(sorted(exits)))
    if model.exit_zero and texts is not None:
        tokenizer = PairTokenizer.load(folder, max_length=model.shape.max_length, pad_id=model.pad_id)
        model.exit_zero.set_idf(tokenizer, texts)
    kept = ", ".join(map(str, model.shape.exits))
    card = f"# A Cascada ranker\n\nExits {kept} of {folder.name}, without further training; its card follows.\n\n"
    room.save(model, output, tokenizer=folder, card=card + read_card(folder))
