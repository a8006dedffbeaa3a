"""The measures, by the names users write: MAP, MRR, P@1, nDCG@10, R@100."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from cascada.errors import CascadaError, require

DEFAULT_MEASURES = ("MAP", "MRR", "P@1", "nDCG@10")

KNOWN = "MAP, MRR, P@k, nDCG@k and R@k (k ≥ 1, as in P@1)"

# How the name is written here (lower case) → how we write it, and ir_measures' name for it.
_WHOLE_LIST = {"map": ("MAP", "AP"), "mrr": ("MRR", "RR")}
_CUT_OFF = {"p": ("P", "P"), "ndcg": ("nDCG", "nDCG"), "r": ("R", "R"), "recall": ("R", "R")}

# trec_eval sorts cut-offs as 32-bit integers; beyond that it mixes up measures without a word.
_LARGEST_CUT_OFF = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: `nDCG@10` is `Measure("nDCG@10", "nDCG", 10)`."""

    name: str
    family: str
    """What ir_measures calls it, without the cut-off."""
    cut_off: int | None = None

    @classmethod
    def parse(cls, name: str) -> Measure:
        """Read a name, in upper or lower case; `recall@5` is another way to write `R@5`."""
        family, at, cut_off = str(name).strip().partition("@")
        known = (_CUT_OFF if at else _WHOLE_LIST).get(family.lower())
        if known is None or (at and not _is_cut_off(cut_off)):
            raise CascadaError(f"{name!r} is not a measure; the measures are {KNOWN}.")
        ours, theirs = known
        return cls(f"{ours}@{int(cut_off)}", theirs, int(cut_off)) if at else cls(ours, theirs)

    def ir_measure(self) -> Any:
        """The same measure as an ir_measures object."""
        measure = getattr(require("ir_measures", "eval", "measuring"), self.family)
        return measure if self.cut_off is None else measure @ self.cut_off


def _is_cut_off(text: str) -> bool:
    return re.fullmatch("[0-9]{1,10}", text) is not None and 1 <= int(text) <= _LARGEST_CUT_OFF
