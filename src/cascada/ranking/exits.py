"""Where candidates may leave when nobody says."""

from __future__ import annotations


def default_exits(depth: int) -> tuple[int, ...]:
    """Exits after two to six sixths of the layers, as the paper has them: 4, 6, 8, 10 and 12 of twelve.

    A third of the layers have to run before a first judgement is worth having. A stack too small for five exits has
    fewer of them.
    """
    sixths = (max(1, (depth * part + 3) // 6) for part in range(2, 7))  # rounded, halves up
    return tuple(dict.fromkeys(sixths))
