"""Measures by the names that users write: MAP, MRR, P@1, nDCG@10, R@100. `evaluate.py` computes them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cascada.core.errors import CascadaError

DEFAULT_MEASURES = ("MAP", "MRR", "P@1", "nDCG@10")
KNOWN = "MAP, MRR, P@k, nDCG@k and R@k (k ≥ 1, as in P@1)"

# Name in lower case → our name and trec_eval's.
_WHOLE_LIST = {"map": ("MAP", "map"), "mrr": ("MRR", "recip_rank")}
_CUT_OFF = {"p": ("P", "P"), "ndcg": ("nDCG", "ndcg_cut"), "r": ("R", "recall"), "recall": ("R", "recall")}

# trec_eval sorts cut-offs as 32-bit integers; with larger ones it silently mixes up measures.
_LARGEST_CUT_OFF = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: our name and trec_eval's."""

    name: str
    trec_eval: str

    @classmethod
    def parse(cls, name: str) -> Measure:
        """Parse a name, in upper or lower case; `recall@5` is the same as `R@5`.

        >>> Measure.parse("ndcg@10")
        Measure(name='nDCG@10', trec_eval='ndcg_cut_10')
        """
        family, at, cut_off = str(name).strip().partition("@")
        known = (_CUT_OFF if at else _WHOLE_LIST).get(family.lower())
        if known is None or (at and not _is_cut_off(cut_off)):
            raise CascadaError(f"{name!r} is not a measure; the measures are {KNOWN}.")
        ours, theirs = known
        return cls(f"{ours}@{int(cut_off)}", f"{theirs}_{int(cut_off)}") if at else cls(ours, theirs)


def _is_cut_off(text: str) -> bool:
    return re.fullmatch("[0-9]{1,10}", text) is not None and 1 <= int(text) <= _LARGEST_CUT_OFF
