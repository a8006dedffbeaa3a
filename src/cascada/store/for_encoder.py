"""The store that an encoder fills."""

from __future__ import annotations

from pathlib import Path

from cascada.errors import CascadaError
from cascada.store.encoder import Encoder
from cascada.store.files import is_store
from cascada.store.store import Store


def store_for(encoder: Encoder, folder: Path, form: str | None = None, *, write: bool = True) -> Store:
    """The store in the folder, made if it is not there: of int8, or of the `form` that is named.

    One that another encoder made, or that is of another form than the one named, is refused.
    """
    if not is_store(folder):
        return Store.create(folder, fingerprint=encoder.fingerprint, width=encoder.width, form=form or "int8")
    store = Store.open(folder, fingerprint=encoder.fingerprint, write=write)
    if form not in (None, store.header.form):
        raise CascadaError(f"{folder} holds {store.header.form}, not {form}: give another form a store of its own.")
    return store
