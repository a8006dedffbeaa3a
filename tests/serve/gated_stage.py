"""A stage that scores a text by its length, and that a test can block."""

import threading

import numpy as np

from cascada.core.errors import CascadaError, NotHeld
from cascada.ranking import Ranker
from cascada.ranking.stage import Scored


class GatedStage:
    layers = 1

    def __init__(self, exit=1):
        self.exit = exit
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.seen = []  # the questions of each run, the warm-up's included

    def score(self, pairs, state, deadline):
        self.seen.append(tuple(pairs.questions))
        self.entered.set()
        assert self.gate.wait(600)
        deadline.check()
        if "fault" in pairs.questions:
            raise RuntimeError("a fault over a secret text")
        if "elsewhere" in pairs.questions:
            raise NotHeld("corpus.shards holds no shard-00003-of-00008.")
        if "damaged" in pairs.questions:
            raise CascadaError("/models/secret is damaged.")
        return Scored(np.array([len(text) for text in pairs.texts], np.float32), tokens=np.full(len(pairs), 3))

    def flops(self, tokens):
        return tokens * 10

    def probability(self, scores):
        return scores / (1 + scores)

    def close(self):
        """Block every run from now on, until the gate is set."""
        self.entered.clear()
        self.gate.clear()


def gated(stages=1):
    ranker = Ranker([GatedStage(exit) for exit in range(1, stages + 1)])
    return ranker, ranker.stages
