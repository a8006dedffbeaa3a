"""A share of a number of things, with the share as the decimal that was written."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal


def share_of(share: Decimal, number: int) -> int:
    """floor(share · number): 0.29 of 100 is 29, which binary floats would make 28."""
    return int((share * number).to_integral_value(ROUND_FLOOR))
