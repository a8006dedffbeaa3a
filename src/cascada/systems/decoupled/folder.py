"""The folder of a trained decoupled ranker: save, load, start training from it; and its fingerprint.

`cascada.core.folder` describes the files; `config.json` is the encoder's config in the hub's layout.
"""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

from cascada.core.errors import CascadaError
from cascada.core.folder import (
    SHAPE_FILE,
    is_exported,
    kind_of,
    named_folder,
    parse_shape,
    read_shape,
    require_trained,
    saving,
)
from cascada.encoders.encoder import encoder_depth, new_encoder, starting_encoder
from cascada.encoders.files import copy_tokenizer, read_weights, write_weights
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.shape import KIND, DecoupledShape

CHANGEABLE = {"exits", "dropout", "interaction", "scores", "match"}
"""The fields in which a ranker may differ from the trained ranker that it continues from."""


def save(model: DecoupledRanker, folder: Path, *, tokenizer: Path, card: str) -> None:
    """Write the ranker into `folder`; until its last file is in place, the folder is no ranker.

    `tokenizer` is the folder with the tokenizer's files.
    """
    shape = {"kind": KIND, **dataclasses.asdict(model.shape), "fingerprint": fingerprint(model, tokenizer)}
    with saving(folder, shape, card=card) as temporary:
        model.config.save_pretrained(temporary)
        write_weights(model, temporary)
        copy_tokenizer(tokenizer, temporary)


def load(folder: Path) -> DecoupledRanker:
    """Load the ranker that `save` wrote, in evaluation mode."""
    require_trained(folder, KIND, "a decoupled ranker")
    model = DecoupledRanker(new_encoder(folder), parse_shape(folder, DecoupledShape, ignore=("fingerprint",)))
    read_weights(model, folder)
    return model.eval()


def begin(encoder: str, shape: DecoupledShape) -> DecoupledRanker:
    """Make a ranker to train. `encoder` is a folder in the hub's layout, a hub name, a trained ranker's folder, or the
    bundled model: `cascada-mini`.

    All weights of a trained decoupled ranker are kept. Its shape may differ only in exits, dropout, interaction, scores
    and match; encodings of all dimensions may be projected to fewer (`keep`); and a tower that both sides shared may
    become two, which start as copies of it. Another kind of interaction starts from scratch on the same towers; so do
    the classifiers, if scores differ. Additional layers above the join start as copies of the last layers of its
    document tower.
    """
    folder = named_folder(encoder)
    if not is_decoupled(folder):
        return DecoupledRanker(starting_encoder(encoder), shape)
    exported = is_exported(folder)
    before = _unpacked(folder) if exported else load(folder)
    trained = before.shape
    split = (trained.towers, shape.towers) == ("shared", "two")
    fewer = trained.keep is None
    changed = {name for name, value in vars(shape).items() if value != getattr(trained, name)}
    if changed - CHANGEABLE - ({"towers"} if split else set()) - ({"keep"} if fewer else set()):
        raise CascadaError(
            f"{folder} is a decoupled ranker of another shape; one that continues from it may differ in exits, "
            "interaction and scores, and may have two towers where it has a shared one, and `keep` where it has none."
        )
    from_scratch = shape.interaction != trained.interaction
    deeper = from_scratch or shape.joint_layers > trained.joint_layers
    model = DecoupledRanker(before.document if deeper or split or exported else new_encoder(folder), shape)
    new: tuple[str, ...] = ("classifiers.",) if from_scratch or shape.scores != trained.scores else ()
    new += ("interaction.",) if from_scratch else ()
    copy_common_weights(before, model, but=new)
    return model


def _unpacked(folder: Path) -> DecoupledRanker:
    from cascada.systems.decoupled.unpack import unpacked

    return unpacked(folder)


def keeps_interaction(encoder: str, shape: DecoupledShape) -> bool:
    """Whether `begin` keeps a trained ranker's interaction, rather than starting with a new one."""
    folder = named_folder(encoder)
    if not is_decoupled(folder) or is_exported(folder):
        return False
    trained = parse_shape(folder, DecoupledShape, ignore=("fingerprint",))
    return trained.interaction == shape.interaction and bool(trained.joint_exits)


def keeps_projection(encoder: str) -> bool:
    """Whether `begin` keeps a trained ranker's projection to fewer dimensions, rather than starting with a new one."""
    folder = named_folder(encoder)
    return is_decoupled(folder) and read_shape(folder).get("keep") is not None


def with_exits(folder: Path, exits: tuple[int, ...]) -> DecoupledRanker:
    """The ranker in `folder` with some of its exits, and with exit 0 or without; see `cascada.systems.cut`."""
    before = load(folder)
    shape = dataclasses.replace(before.shape, exits=exits)
    model = DecoupledRanker(new_encoder(folder), shape)
    copy_common_weights(before, model)
    return model.eval()


def copy_common_weights(before: DecoupledRanker, model: DecoupledRanker, *, but: tuple[str, ...] = ()) -> None:
    """Copy the weights that two rankers have in common, except those whose names start with `but`."""
    own = model.state_dict()
    common = {
        name: value
        for name, value in before.state_dict().items()
        if name in own and own[name].shape == value.shape and not name.startswith(but)
    }
    model.load_state_dict(common, strict=False)


def depth_of(encoder: str) -> int:
    """The number of layers to start from; of a decoupled ranker's folder, those below the join."""
    folder = named_folder(encoder)
    if not (folder / SHAPE_FILE).exists():
        return encoder_depth(encoder)
    shape = read_shape(folder)
    return int(shape["join"]) if is_decoupled(folder) else int(shape["exits"][-1])


def is_decoupled(folder: Path) -> bool:
    return (folder / SHAPE_FILE).exists() and kind_of(folder) == KIND


def fingerprint(model: DecoupledRanker, tokenizer: Path) -> str:
    """A digest of all that document encodings depend on: rankers with equal fingerprints can share a store.

    The precision in which documents are encoded, float32 or bfloat16, is left out: it changes nearly all values by less
    than one step of int8, as much as storing them in int8 does.
    """
    shape = model.shape
    digest = hashlib.sha256(f"{shape.join} {shape.keep} {shape.max_length}{shape.document_prompt}".encode())
    digest.update((tokenizer / "tokenizer.json").read_bytes())
    for name, weight in sorted(model.state_dict().items()):
        if name.startswith(("document.", "down.")):
            digest.update(name.encode())
            digest.update(weight.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:32]
