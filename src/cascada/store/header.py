"""What a store says about itself, so that no model reads the encodings of another."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from cascada.errors import CascadaError
from cascada.store.forms import FORMS, checked_form

FORMAT = 1
"""Of the header, the keys and the entries; a store of another one is made anew."""
KEY = b"header"
"""Shorter than any text's key, so that it cannot be one."""


@dataclass(frozen=True, slots=True)
class Header:
    """Whose encodings a store holds, and in which form."""

    fingerprint: str
    """Of the encoder whose encodings these are."""
    width: int
    """Numbers per token."""
    form: str
    """Of the numbers: a name in `forms.FORMS`."""
    format: int = FORMAT

    def __post_init__(self) -> None:
        checked_form(self.form)
        if isinstance(self.width, bool) or not isinstance(self.width, int) or self.width < 1:
            raise CascadaError(f"width is {self.width!r}; it must be a whole number from 1.")
        if not isinstance(self.fingerprint, str) or not self.fingerprint:
            raise CascadaError("A store needs the fingerprint of its encoder.")

    @property
    def token_bytes(self) -> int:
        """What a token takes."""
        return FORMS[self.form].token_bytes(self.width)

    def packed(self) -> bytes:
        """As the store holds it."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def unpacked(cls, packed: bytes | None, folder: Path) -> Header:
        """Read it; `folder` is the store's, for the sentence if this is none, or one of another version."""
        try:
            fields = json.loads(packed or b"")
            version = fields["format"]
            if version == FORMAT:
                return cls(**fields)
        except (ValueError, TypeError, KeyError) as error:
            raise CascadaError(f"{folder} is not a store of encodings, or its header is damaged.") from error
        made = f"{folder} was made by another version of Cascada (store format {version}, this one reads {FORMAT})"
        raise CascadaError(f"{made}: make it anew with `cascada encode`.")

    def check(self, fingerprint: str | None, folder: Path) -> None:
        """Refuse the encodings of another encoder; None takes any."""
        if fingerprint is not None and fingerprint != self.fingerprint:
            made = f"{folder} holds the encodings of another model ({self.fingerprint[:12]}, not {fingerprint[:12]})"
            raise CascadaError(f"{made}: make a store for this one with `cascada encode`.")
