"""A question and candidate sentences to measure with: real words, and lengths distributed as in real sentences."""

from __future__ import annotations

import numpy as np

MEDIAN, SPREAD = 27.0, 0.52
"""Of the log-normal lengths in words, as in TREC-QA's training sentences. With the question and the special tokens,
pairs have 44 tokens on average."""

QUESTION = "when did people first use the river near town?"

_WORDS = """
the of and to in was is for as on with by that at from it an were are which this be had has first one their its new
after but who not they have two been other when there all into time than may world about only over year made most
state would more between city through where some part then called also used during known under war general early while
later school south house national film group same major many such three former four small work life government several
family since water great long people until name number second before local game high large common well song north line
set history being team park street station river public book town music season played area system village east
military power west island best century district order building law country son due population home union club form
court king church road service community end age support land company international party final point single held died
born near director central left production member development science special series event include region modern short
field office white black red green blue open main body human art language word letter story paper report record study
research student teacher class question answer example reason result change effect cause purpose problem value price
money bank trade market business industry product food did use
"""

WORDS = _WORDS.split()
"""Each is a single token in BERT's vocabulary, so that words and tokens are the same there."""


def sentences(count: int, seed: int = 0) -> list[str]:
    """Make `count` candidates. A shorter list is the beginning of a longer one with the same seed."""
    random = np.random.default_rng(seed)
    return [_sentence(random) for _ in range(count)]


def _sentence(random: np.random.Generator) -> str:
    words = max(3, round(float(random.lognormal(np.log(MEDIAN), SPREAD))) - 1)
    return " ".join(WORDS[index] for index in random.integers(len(WORDS), size=words)).capitalize() + "."
