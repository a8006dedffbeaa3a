"""The schemes of hierarchical ranking: which level reads the features of which (the paper's Figure 3 and Table 2).

A scheme maps each level to the levels whose features it reads before its own. A level is trained with the objective
that it is named after (`list-2` with `list`). Levels are in the order in which they are computed, so a level reads only
earlier ones. The last level ranks, unless another is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping

from cascada.core.errors import CascadaError

Levels = Mapping[str, tuple[str, ...]]
OBJECTIVES = ("point", "pair", "list")

SCHEMES: dict[str, Levels] = {
    # a single level
    "CA(point)": {"point": ()},
    "CA(pair)": {"pair": ()},
    "CA(list)": {"list": ()},
    # independent levels
    "MTL": {"point": (), "pair": (), "list": ()},
    # the main level reads the other two
    "RI(point)": {"pair": (), "list": (), "point": ("pair", "list")},
    "RI(pair)": {"point": (), "list": (), "pair": ("point", "list")},
    "RI(list)": {"point": (), "pair": (), "list": ("point", "pair")},
    # each level reads the one before, with the features that it read
    "PRI(list)": {"point": (), "pair": ("point",), "list": ("pair",)},
    "PRI(point)": {"list": (), "pair": ("list",), "point": ("pair",)},
    # ablations of PRI(list)
    "PRI(list) without point": {"pair": (), "list": ("pair",)},
    "PRI(list) without pair": {"point": (), "list": ("point",)},
    "PRI(all list)": {"list-1": (), "list-2": ("list-1",), "list-3": ("list-2",)},
}


def objective_of(level: str) -> str:
    """The objective that a level is trained with."""
    return level.partition("-")[0]


def checked_levels(levels: Levels) -> dict[str, tuple[str, ...]]:
    """The levels, after a check that they can be computed in their order."""
    if not levels:
        raise CascadaError("A hierarchical ranker has at least one level.")
    done: dict[str, tuple[str, ...]] = {}
    for level, reads in levels.items():
        if objective_of(level) not in OBJECTIVES:
            raise CascadaError(f"Level {level}: there are {', '.join(OBJECTIVES)}, or with a suffix, such as list-2.")
        unknown = [name for name in reads if name not in done]
        if unknown:
            raise CascadaError(f"Level {level} reads {unknown[0]}, which is not a level before it.")
        done[level] = tuple(reads)
    return done


def main_level(levels: Levels, main: str | None) -> str:
    """The level that ranks."""
    if main is not None and main not in levels:
        raise CascadaError(f"The main level is {main}, but the levels are {', '.join(levels)}.")
    return main or list(levels)[-1]


def levels_seen(levels: Levels) -> dict[str, int]:
    """The number of levels whose features each level sees, its own included."""
    counts: dict[str, int] = {}
    for level, reads in levels.items():
        counts[level] = 1 + sum(counts[name] for name in reads)
    return counts


def levels_needed(levels: Levels, level: str) -> tuple[str, ...]:
    """The levels whose features are used by one level's prediction, itself included, in their order."""
    wanted = {level}
    for name in reversed(list(levels)):
        if name in wanted:
            wanted.update(levels[name])
    return tuple(name for name in levels if name in wanted)
