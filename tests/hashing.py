"""A small real encoder without weights, and child processes that use it."""

import itertools
import subprocess
import sys
from hashlib import shake_256
from pathlib import Path

import numpy as np


class HashingEncoder:
    """A word's numbers come from its letters, and from how many words stand before it."""

    def __init__(self, width=8):
        self.width = width
        self.fingerprint = f"hashing-{width}"

    def encode(self, texts):
        return [np.stack([self._word(*one) for one in enumerate(text.split() or [""])]) for text in texts]

    def _word(self, place, word):
        digest = shake_256(repr((place, word)).encode()).digest(4 * self.width)
        return np.frombuffer(digest, "<i4").astype(np.float32) / 2**31


def child(code, *arguments):
    """A Python process that knows this module; its stdin and stdout are pipes of text."""
    start = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nfrom hashing import HashingEncoder\n"
    start += "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # nohup would leave it ignored
    command = [sys.executable, "-c", start + code, *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )


def endless_texts():
    """More of them than any process comes to before it is ended."""
    return (" ".join(f"word{number * step}" for step in range(1, 2 + number % 7)) for number in itertools.count())


def texts(count):
    return list(itertools.islice(endless_texts(), count))


def document_encoder(model):
    """`model` is a width."""
    return HashingEncoder(int(model))
