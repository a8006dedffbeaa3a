"""Exact shares of a count, computed in decimal as the user wrote them."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal


def share_of(share: Decimal, number: int) -> int:
    """floor(share · number): 0.29 of 100 is 29, where binary floats give 28."""
    return int((share * number).to_integral_value(ROUND_FLOOR))
