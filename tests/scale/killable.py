"""Encoders and rankers whose worker process is killed once in the middle of its work. Workers import this module."""

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
    """Block the first process that calls this, and write down its process id."""
    try:
        os.close(os.open(Path(folder, "first"), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    Path(folder, f"{os.getpid()}.waiting").touch()
    time.sleep(PATIENCE)
    raise AssertionError("the process was not killed")


@contextmanager
def killing(folder):
    """Kill the process that waits; yield the list of process ids that were killed."""
    killed, over = [], threading.Event()

    def watch():
        while not (killed or over.is_set()):
            for file in Path(folder).glob("*.waiting"):
                os.kill(int(file.stem), signal.SIGKILL)
                killed.append(int(file.stem))
            time.sleep(0.05)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


class KilledEncoder(HashingEncoder):
    """Its process is killed when it encodes its second batch of texts."""

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
    """Scores a text by its letters. With a folder, its process is killed when it scores its second batch of pairs."""

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


def fails_on_three(item):
    if item == 3:
        raise CascadaError("Three is not allowed.")
    return item


def kills_its_worker(item):
    os.kill(os.getpid(), signal.SIGKILL)
