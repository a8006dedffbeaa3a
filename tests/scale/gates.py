"""Encoders and rankers whose worker is killed once, in the middle of its work; workers import this module."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from hashing import HashingEncoder

from cascada.core.errors import CascadaError
from cascada.ranking import Ranker
from cascada.ranking.stage import Scored

PATIENCE = 300


def wait_to_be_killed(folder):
    """The first process that comes here says who it is, and goes no further."""
    try:
        os.close(os.open(Path(folder, "came"), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    Path(folder, f"{os.getpid()}.waiting").touch()
    time.sleep(PATIENCE)
    raise AssertionError("nobody came")


@contextmanager
def killing(folder):
    """Kill the one that waits, by its process id; the list of those that were."""
    killed, over = [], threading.Event()

    def watch():
        while not (killed or over.is_set()):
            for found in Path(folder).glob("*.waiting"):
                os.kill(int(found.stem), signal.SIGKILL)
                killed.append(int(found.stem))
            time.sleep(0.05)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


class KilledEncoder(HashingEncoder):
    """Killed over the second lot of texts that a process encodes."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.calls = 0

    def encode(self, texts):
        self.calls += 1
        if self.calls == 2:
            wait_to_be_killed(self.folder)
        return super().encode(texts)


class LetterStage:
    """Scores a text by its letters; killed over the second lot of pairs that a process scores, if it has a folder."""

    layers, exit = 1, 1

    def __init__(self, folder=None):
        self.folder = folder
        self.calls = 0

    def score(self, pairs, state, deadline):
        self.calls += 1
        if self.folder and self.calls == 2:
            wait_to_be_killed(self.folder)
        return Scored(np.array([sum(map(ord, text)) % 1009 for text in pairs.texts], np.float32))

    def flops(self, tokens):
        return tokens * 10

    def probability(self, scores):
        return scores / 1009


def letter_ranker(folder=None):
    return Ranker([LetterStage(folder)])


def odd(item):
    if item == 3:
        raise CascadaError("Three is too odd.")
    return item


def deadly(item):
    os.kill(os.getpid(), signal.SIGKILL)
