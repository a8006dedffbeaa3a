"""The ONNX Runtime engine of decoupled rankers: the graphs that `cascada export` writes. No torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime

from cascada.graphs.session import TOKEN_BUDGET, Workers, session_of, stage_name
from cascada.ranking.stage import Bools, Floats, Ints
from cascada.systems.decoupled.cost import DecoupledArithmetic
from cascada.systems.decoupled.parts import DOCUMENT, QUESTION, Array, load_meeting
from cascada.systems.decoupled.shape import read_exported
from cascada.text.sides import SideTokenizer


class OnnxParts:
    """An exported ranker, part by part."""

    budget = TOKEN_BUDGET

    def __init__(self, folder: Path, threads: int) -> None:
        about = read_exported(folder)
        self.join = about.join
        self.exits = about.exits
        self.first_only = about.interaction == "linear"
        self.onto_cosine = about.onto_cosine
        self.fingerprint = about.fingerprint
        self.width = about.keep or about.hidden
        self.meeting = load_meeting(folder)
        self.arithmetic = DecoupledArithmetic(
            about.hidden, about.feed_forward, about.join, about.interaction, about.keep, about.exits[-1]
        )
        lengths = {"question_length": about.question_length, "max_length": about.max_length}
        self.tokenizer = SideTokenizer.load(folder, **lengths, pad_id=about.pad_id)
        self.each = Workers(threads).run
        precision = about.precision
        self._question = session_of(folder, QUESTION, precision)
        self._document = session_of(folder, DOCUMENT, precision)
        joint = [exit for exit in about.exits if exit > about.join]
        self._joint = {exit: session_of(folder, stage_name(exit), precision) for exit in joint}

    def question(self, ids: Ints, mask: Bools) -> Floats:
        return _encoded(self._question, ids, mask)

    def document(self, ids: Ints, mask: Bools) -> Floats:
        return _encoded(self._document, ids, mask)

    def joint(self, exit: int, states: Array, lengths: Ints, second: Ints) -> tuple[Floats, Array | None]:
        session = self._joint[exit]
        feed = {"states": states, "lengths": lengths.astype(np.int32), "second": second.astype(np.int32)}
        read = {one.name for one in session.get_inputs()}
        scores, *after = session.run(None, {name: value for name, value in feed.items() if name in read})
        return scores, after[0] if after else None


def _encoded(session: onnxruntime.InferenceSession, ids: Ints, mask: Bools) -> Floats:
    feed = {"ids": ids.astype(np.int32), "lengths": mask.sum(1).astype(np.int32)}
    return session.run(None, feed)[0]  # type: ignore[no-any-return]
