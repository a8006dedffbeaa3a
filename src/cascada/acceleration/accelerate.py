"""Turn a cross-encoder into a cascade whose last exit is that model, given questions without labels.

1. One pass stores the model's own scores and the pooled states of the layers with exits (`states.py`).
2. Heads learn to agree with those scores on a third of the questions (`heads.py`).
3. The drop plan is chosen on the second third, and certified on the last (`cascada.ranking.tuning`).

With `joint`, the layers are fine-tuned between the second step and the third (`joint.py`), and heads are learned anew.
Every step is judged by the scores of the original model.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cascada.acceleration.exits import Lessons, exit_scores, taught
from cascada.acceleration.heads import ranks_of_best
from cascada.acceleration.lists import Lists as Questions
from cascada.acceleration.parts import Parts
from cascada.acceleration.pooled import PooledNetwork
from cascada.acceleration.report import Accelerated, ExitReport, write_report
from cascada.acceleration.states import States
from cascada.core.errors import CascadaError
from cascada.core.folder import read_card, require_no_ranker
from cascada.data.group import data_digest
from cascada.ranking.plan_file import write_plan
from cascada.ranking.tuning import ExitScores, Tuning
from cascada.ranking.tuning.tune import Halves
from cascada.systems.cross_encoder.folder import save
from cascada.systems.load import model_digest

STATES_FOLDER, JOINT_FOLDER, JOINT_STATES = "states", "joint", "joint-states"
"""Inside OUT; states are removed when it is finished."""

Advance = Callable[[int], None]
Choose = Callable[[ExitScores, Halves, Advance], Tuning]
"""Chooses a plan on the first of the halves and checks it on the second."""
Step = Callable[[str, int, str], AbstractContextManager[Advance]]
"""Begins a step, given its name, its total and the unit; yields a function to call with the amount that was done."""


def default_exits(depth: int) -> tuple[int, ...]:
    """Exit 0, the end of each of the first four sixths of the layers, and the last layer: 0, 2, 4, 6, 8, 12."""
    sixths = (max(1, round(depth * part / 6)) for part in range(1, 5))
    return (0, *dict.fromkeys(layer for layer in sixths if layer < depth), depth)


def checked_exits(exits: Sequence[int] | None, depth: int) -> tuple[int, ...]:
    """The given exits and the last layer; the default exits if `exits` is None."""
    if exits is None:
        return default_exits(depth)
    wrong = [exit for exit in exits if not 0 <= exit <= depth]
    if wrong:
        raise CascadaError(f"There is no exit at layer {wrong[0]}: the model has {depth} layers.")
    chosen = tuple(sorted({*exits, depth}))
    if len(chosen) < 2:
        raise CascadaError("The last layer alone is the model as it is: name exits below it (--exits 0,2,4).")
    return chosen


@dataclass(frozen=True)
class Acceleration:
    """One run: the model, its questions, and the folder for the cascade."""

    model: Path
    questions: Questions
    out: Path
    choose: Choose
    step: Step
    exits: Sequence[int] | None = None
    seed: int = 0
    joint: int = 0
    """Epochs in which the layers are fine-tuned too; 0 leaves them as they are."""

    def run(self) -> Accelerated:
        """Make the cascade, or continue where a killed run stopped."""
        require_no_ranker(self.out)
        original = PooledNetwork.load(self.model)
        exits = checked_exits(self.exits, original.network.encoder.depth)
        parts = Parts.of(len(self.questions.groups), self.seed)
        digest = model_digest(str(self.model))
        states = self._states(original, exits, STATES_FOLDER, digest)
        lessons = Lessons(self.questions, np.array(states.scores), parts, self.seed)
        cascade = taught(original, exits, states, lessons, self.step)
        if self.joint:
            tuned = self._fine_tuned(cascade, lessons, digest)
            states = self._states(tuned, exits, JOINT_STATES, model_digest(str(self.out / JOINT_FOLDER / "model")))
            cascade = taught(tuned, exits, states, lessons, self.step)
        scores = exit_scores(cascade, states, lessons)
        halves = scores.take(parts.plan), scores.take(parts.test)
        both = scores.take(np.sort(np.concatenate((parts.plan, parts.test))))
        with self.step("replaying", len(both.questions), "questions") as advance:
            tuning = self.choose(both, halves, advance)
        result = self._result(scores, lessons, cascade.network.shape.head.width, tuning)
        self._write(cascade, result)
        return result

    def _states(self, network: PooledNetwork, exits: tuple[int, ...], folder: str, digest: str) -> States:
        layers = [exit for exit in exits[:-1] if exit]
        about = {"model": digest, "data": data_digest(self.questions.groups)}
        pairs = self.questions.pairs
        states = States.opened(self.out / folder, about, layers=layers, pairs=pairs, width=network.width)
        name = "running the fine-tuned model" if folder == JOINT_STATES else "running the model"
        with self.step(name, pairs, "pairs") as advance:
            states.fill(network, self.questions.groups, advance)
        return states

    def _fine_tuned(self, cascade: PooledNetwork, lessons: Lessons, digest: str) -> PooledNetwork:
        from cascada.acceleration.joint import Scored, fine_tuned

        learn, dev = (Scored(*lessons.part(numbers)) for numbers in (lessons.parts.heads, lessons.parts.plan))
        with ExitStack() as stack:
            return fine_tuned(
                cascade,
                learn,
                dev,
                self.out / JOINT_FOLDER,
                about={"model": digest, "data": data_digest(self.questions.groups)},
                tokenizer=self.model,
                epochs=self.joint,
                seed=self.seed,
                begin=lambda updates: stack.enter_context(self.step("fine-tuning", updates, "updates")),
            )

    def _result(self, scores: ExitScores, lessons: Lessons, width: int, tuning: Tuning) -> Accelerated:
        tested, parts = scores.take(lessons.parts.test).questions, lessons.parts
        rows = np.concatenate([question.scores for question in tested], axis=1)  # (exits, pairs)
        owner = np.repeat(np.arange(len(tested)), [question.candidates for question in tested])
        _, wanted = lessons.part(parts.test)
        kind = f"a head with {width} hidden units" if width else "a linear head"
        *exits, last = (
            ExitReport(
                int(exit), kind if exit else "late interaction of the embeddings", ranks_of_best(row, wanted, owner)
            )
            for exit, row in zip(scores.exits, rows, strict=True)
        )
        counts = {"heads": len(parts.heads), "plan": len(parts.plan), "test": len(parts.test)}
        counts["left_out"] = self.questions.short + self.questions.repeated
        last = replace(last, head="the model's own head, fine-tuned" if self.joint else "the model's own head")
        pairs = self.questions.pairs
        return Accelerated(self.out, str(self.model), counts, pairs, tuple(exits), last, tuning, self.joint)

    def _write(self, cascade: PooledNetwork, result: Accelerated) -> None:
        """Write the report and the plan before the model: a folder that is a ranker has all of them."""
        write_report(result, self.out)
        exits = cascade.network.shape.exits
        about = {key: value for key, value in result.to_dict().items() if key in ("model", "agreement", "certificate")}
        write_plan(self.out, result.plan, exits, about)
        card = f"{result.markdown()}\nThe card of the model follows.\n\n{read_card(self.model)}".rstrip() + "\n"
        save(cascade.network, self.out, tokenizer=self.model, card=card)
        for folder in (STATES_FOLDER, JOINT_STATES, f"{JOINT_FOLDER}/model"):
            shutil.rmtree(self.out / folder, ignore_errors=True)
