"""Number formats: how the float32 values of an encoding are written to disk. A store has one of them, its `form`."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import CascadaError

Floats2d = NDArray[np.float32]
"""(tokens, width)"""


class NumberFormat(Protocol):
    """Converts encodings to bytes and back."""

    def token_bytes(self, width: int) -> int:
        """Bytes per token, always the same: the length of a packed encoding gives its number of tokens."""

    def pack(self, encoding: Floats2d) -> bytes: ...

    def unpack(self, packed: memoryview, out: Floats2d) -> None:
        """Write the encoding into `out`, which has the encoding's shape."""


class Float32:
    """The values as they are."""

    def token_bytes(self, width: int) -> int:
        return 4 * width

    def pack(self, encoding: Floats2d) -> bytes:
        return encoding.astype("<f4").tobytes()

    def unpack(self, packed: memoryview, out: Floats2d) -> None:
        out[...] = np.frombuffer(packed, "<f4").reshape(out.shape)


class Float16:
    """The values rounded to float16."""

    def token_bytes(self, width: int) -> int:
        return 2 * width

    def pack(self, encoding: Floats2d) -> bytes:
        if np.abs(encoding).max() > np.finfo(np.float16).max:
            raise CascadaError("An encoding has values too large for fp16: store it as int8 or fp32.")
        return encoding.astype("<f2").tobytes()

    def unpack(self, packed: memoryview, out: Floats2d) -> None:
        # Several times as fast as numpy's conversion. Shifted to the position they have in a float32, the bits of a
        # float16 are its value divided by 2^112, the difference between the two exponent biases. Sign extension to
        # int32 leaves four copies of the sign; the mask keeps the first.
        bits = out.view(np.int32)
        bits[...] = np.frombuffer(packed, "<i2").reshape(out.shape)
        bits <<= 13
        bits &= np.int32(-0x70002000)  # 1000 1111 1111 1111 1110 0000 0000 0000
        out *= np.float32(2.0**112)


class ScaledInt8:
    """The values quantised to integers from -127 to 127, with one float32 scale per token. The scales come first."""

    def token_bytes(self, width: int) -> int:
        return 4 + width

    def pack(self, encoding: Floats2d) -> bytes:
        scales = (np.abs(encoding).max(axis=1) / np.float32(127)).astype("<f4")  # (tokens,)
        steps = encoding / np.where(scales > 0, scales, 1)[:, None]
        quantised: NDArray[np.int8] = np.rint(steps).clip(-127, 127).astype("i1")  # (tokens, width)
        return bytes(scales.tobytes() + quantised.tobytes())

    def unpack(self, packed: memoryview, out: Floats2d) -> None:
        tokens = len(out)
        # Two steps in place are twice as fast as one product of mixed types.
        out[...] = np.frombuffer(packed, "i1", offset=4 * tokens).reshape(out.shape)
        out *= np.frombuffer(packed, "<f4", count=tokens)[:, None]


FORMS: dict[str, NumberFormat] = {"int8": ScaledInt8(), "fp16": Float16(), "fp32": Float32()}


def checked_form(name: str) -> str:
    """Return `name`, or raise an error that lists the formats there are."""
    if name not in FORMS:
        raise CascadaError(f"There is no number format {name!r}: a store takes {', '.join(FORMS)}.")
    return name
