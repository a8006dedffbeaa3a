"""The number formats of a store: what becomes of an encoding on disk."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import CascadaError

Floats2d = NDArray[np.float32]
"""(tokens, width)"""


class Form(Protocol):
    """How numbers are kept."""

    def token_bytes(self, width: int) -> int:
        """What a token takes: the length of a packed encoding says how many tokens it has."""

    def pack(self, encoding: Floats2d) -> bytes: ...

    def unpack(self, packed: memoryview, out: Floats2d) -> None:
        """Fill `out`, whose shape is the encoding's."""


class Floats:
    """Every number by itself, as float32."""

    def token_bytes(self, width: int) -> int:
        return 4 * width

    def pack(self, encoding: Floats2d) -> bytes:
        return encoding.astype("<f4").tobytes()

    def unpack(self, packed: memoryview, out: Floats2d) -> None:
        out[...] = np.frombuffer(packed, "<f4").reshape(out.shape)


class Halves:
    """Every number by itself, as float16."""

    def token_bytes(self, width: int) -> int:
        return 2 * width

    def pack(self, encoding: Floats2d) -> bytes:
        if np.abs(encoding).max() > np.finfo(np.float16).max:
            raise CascadaError("An encoding has numbers too large for fp16: keep them as int8 or fp32.")
        return encoding.astype("<f2").tobytes()

    def unpack(self, packed: memoryview, out: Floats2d) -> None:
        # By hand, several times as fast as numpy: a float16's bits, moved to where a float32 has them, are the number
        # divided by 2^112, which is how much the two exponents' zeros differ. (Widened, the sign has come four times.)
        bits = out.view(np.int32)
        bits[...] = np.frombuffer(packed, "<i2").reshape(out.shape)
        bits <<= 13
        bits &= np.int32(-0x70002000)  # 1000 1111 1111 1111 1110 0000 0000 0000
        out *= np.float32(2.0**112)


class Scaled:
    """Whole numbers from -127 to 127, and for each token the float32 to multiply its numbers by; the scales first."""

    def token_bytes(self, width: int) -> int:
        return 4 + width

    def pack(self, encoding: Floats2d) -> bytes:
        scales = (np.abs(encoding).max(axis=1) / np.float32(127)).astype("<f4")  # (tokens,)
        steps = encoding / np.where(scales > 0, scales, 1)[:, None]
        numbers: NDArray[np.int8] = np.rint(steps).clip(-127, 127).astype("i1")
        return bytes(scales.tobytes() + numbers.tobytes())

    def unpack(self, packed: memoryview, out: Floats2d) -> None:
        tokens = len(out)
        # In two steps, one token array at a time in the processor's cache: twice as fast as one product of mixed types.
        out[...] = np.frombuffer(packed, "i1", offset=4 * tokens).reshape(out.shape)
        out *= np.frombuffer(packed, "<f4", count=tokens)[:, None]


FORMS: dict[str, Form] = {"int8": Scaled(), "fp16": Halves(), "fp32": Floats()}


def checked_form(name: str) -> str:
    """The form of that name, or a sentence with those there are."""
    if name not in FORMS:
        raise CascadaError(f"There is no number format {name!r}: a store takes {', '.join(FORMS)}.")
    return name


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
