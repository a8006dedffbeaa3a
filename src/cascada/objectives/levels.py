"""Hierarchical ranking as one description: which level's features feed which (the paper's Figure 3 and Table 2).

A scheme maps each level to the levels whose features stand before its own. A level learns from the objective it is
named after (`list-2` from `list`). Levels stand in the order they are computed in, so one reads only what is above it;
the last one ranks, unless another is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping

from cascada.core.errors import CascadaError

Levels = Mapping[str, tuple[str, ...]]


OBJECTIVES = ("point", "pair", "list")


SCHEMES: dict[str, Levels] = {
    # one level alone
    "CA(point)": {"point": ()},
    "CA(pair)": {"pair": ()},
    "CA(list)": {"list": ()},
    # side by side
    "MTL": {"point": (), "pair": (), "list": ()},
    # the main level reads the other two
    "RI(point)": {"pair": (), "list": (), "point": ("pair", "list")},
    "RI(pair)": {"point": (), "list": (), "pair": ("point", "list")},
    "RI(list)": {"point": (), "pair": (), "list": ("point", "pair")},
    # each level reads the one before, and with it what that one read
    "PRI(list)": {"point": (), "pair": ("point",), "list": ("pair",)},
    "PRI(point)": {"list": (), "pair": ("list",), "point": ("pair",)},
    # ablations of PRI(list)
    "PRI(list) without point": {"pair": (), "list": ("pair",)},
    "PRI(list) without pair": {"point": (), "list": ("point",)},
    "PRI(all list)": {"list-1": (), "list-2": ("list-1",), "list-3": ("list-2",)},
}


def objective_of(level: str) -> str:
    return level.partition("-")[0]


def checked(levels: Levels) -> dict[str, tuple[str, ...]]:
    """The levels, if they can be computed in their order."""
    if not levels:
        raise CascadaError("A hierarchical ranker has at least one level.")
    done: dict[str, tuple[str, ...]] = {}
    for level, reads in levels.items():
        if objective_of(level) not in OBJECTIVES:
            raise CascadaError(f"Level {level}: there are {', '.join(OBJECTIVES)}, and such as list-2.")
        unknown = [name for name in reads if name not in done]
        if unknown:
            raise CascadaError(f"Level {level} reads {unknown[0]}, which is not a level above it.")
        done[level] = tuple(reads)
    return done


def main_level(levels: Levels, main: str | None) -> str:
    """The level that ranks."""
    if main is not None and main not in levels:
        raise CascadaError(f"The main level is {main}, but the levels are {', '.join(levels)}.")
    return main or list(levels)[-1]


def widths(levels: Levels) -> dict[str, int]:
    """How many levels' features each one sees, its own included."""
    found: dict[str, int] = {}
    for level, reads in levels.items():
        found[level] = 1 + sum(found[name] for name in reads)
    return found


def needed(levels: Levels, level: str) -> tuple[str, ...]:
    """The levels whose features go into one level's prediction, in their order, itself included."""
    wanted = {level}
    for name in reversed(list(levels)):
        if name in wanted:
            wanted.update(levels[name])
    return tuple(name for name in levels if name in wanted)
