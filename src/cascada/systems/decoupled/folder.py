"""A decoupled ranker on disk: as a transformer's folder, with `kind` and the join in `cascada.json`."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

from cascada.core.errors import CascadaError
from cascada.core.folder import DECOUPLED, SHAPE_FILE, kind_of, parsed, read_shape, require_trained, saving
from cascada.encoders.encoder import StagedEncoder, encoder_depth, load_encoder, new_encoder
from cascada.encoders.files import copy_tokenizer, read_weights, write_weights
from cascada.systems.cascade.folder import load as load_transformer
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.shape import DecoupledShape

FREE = {"exits", "dropout", "interaction", "scores"}
"""What a ranker that goes on from another may have otherwise."""


def save(model: DecoupledRanker, folder: Path, *, tokenizer: Path, card: str) -> None:
    """Write the ranker into `folder`; until its last file is in place, the folder is no ranker."""
    mark = fingerprint(model, tokenizer)
    about = {"kind": DECOUPLED, **dataclasses.asdict(model.shape), "fingerprint": mark}
    with saving(folder, about, card=card) as made:
        model.config.save_pretrained(made)
        write_weights(model, made)
        copy_tokenizer(tokenizer, made)


def load(folder: Path) -> DecoupledRanker:
    """The ranker that `save` wrote, ready to score."""
    require_trained(folder, DECOUPLED, "a decoupled ranker")
    model = DecoupledRanker(new_encoder(folder), parsed(folder, DecoupledShape, ignore=("fingerprint",)))
    read_weights(model, folder)
    return model.eval()


def depth_of(encoder: str) -> int:
    """How many layers there are to begin with: below the join, if it is a decoupled ranker's folder."""
    folder = Path(encoder)
    if not (folder / SHAPE_FILE).exists():
        return encoder_depth(encoder)
    shape = read_shape(folder)
    return int(shape["join"]) if kind_of(folder) == DECOUPLED else int(shape["exits"][-1])


def start_of(encoder: str) -> StagedEncoder:
    """The encoder to begin with: a pre-trained one, or that of a transformer ranker that was trained before."""
    folder = Path(encoder)
    if not (folder / SHAPE_FILE).exists():
        return load_encoder(encoder)
    return load_transformer(folder).encoder


def begin(encoder: str, shape: DecoupledShape) -> DecoupledRanker:
    """A ranker to train. `encoder` is a folder in the hub's layout, a hub name, or a trained ranker's folder.

    Of a decoupled ranker everything is taken over. Its shape has to be the same but for exits, dropout, the
    interaction and what its scores are. Another interaction begins anew above the same towers, and classifiers of other
    scores do. Layers above those that it has start as copies of the towers' last ones.
    """
    folder = Path(encoder)
    if not (folder / SHAPE_FILE).exists() or kind_of(folder) != DECOUPLED:
        return DecoupledRanker(start_of(encoder), shape)
    before = load(folder)
    had = before.shape
    if {name for name, value in vars(shape).items() if value != getattr(had, name)} - FREE:
        raise CascadaError(
            f"{folder} is a decoupled ranker of another shape; one that goes on from it may differ in exits, "
            "interaction and scores."
        )
    anew = shape.interaction != had.interaction
    more = anew or shape.joint_layers > had.joint_layers
    model = DecoupledRanker(before.document if more else new_encoder(folder), shape)
    new = ("interaction.", "classifiers.") if anew else ("classifiers.",) if shape.scores != had.scores else ()
    known = {name for name in model.state_dict() if not name.startswith(new)}
    model.load_state_dict({name: value for name, value in before.state_dict().items() if name in known}, strict=False)
    return model


def fingerprint(model: DecoupledRanker, tokenizer: Path) -> str:
    """What a document's encoding depends on, as one short name: two rankers that share it share their encodings."""
    found = hashlib.sha256(f"{model.shape.join} {model.shape.keep} {model.shape.max_length}".encode())
    found.update((tokenizer / "tokenizer.json").read_bytes())
    for name, weight in sorted(model.state_dict().items()):
        if name.startswith(("document.", "down.")):
            found.update(name.encode())
            found.update(weight.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()[:32]
