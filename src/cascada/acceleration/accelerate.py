"""From a cross-encoder and questions without labels to the folder of a cascade whose last exit is that model.

1. One pass keeps the model's own scores and the pooled states of the layers with exits (`states.py`).
2. Heads learn to agree with those scores on a third of the questions (`heads.py`).
3. The drop plan is chosen on the second third, and certified on the last (`cascada.ranking.tuning`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from cascada.acceleration.heads import Learned, Lists, learn_heads, ranks_of_best, score_scaling
from cascada.acceleration.lists import Lists as Questions
from cascada.acceleration.parts import Parts
from cascada.acceleration.pooled import PooledNetwork
from cascada.acceleration.report import Accelerated, ExitReport, write_report
from cascada.acceleration.states import States, pairs_of
from cascada.core.errors import CascadaError
from cascada.core.folder import read_card, require_no_ranker
from cascada.data.group import Group, data_digest
from cascada.encoders.late_interaction import ExitZero
from cascada.ranking.executor import best_first
from cascada.ranking.plan_file import write_plan
from cascada.ranking.stage import NO_DEADLINE, Floats, Ints
from cascada.ranking.tuning import ExitScores, ScoredQuestion, Tuning
from cascada.ranking.tuning.tune import Halves
from cascada.systems.cross_encoder.folder import save, with_added_exits
from cascada.systems.cross_encoder.shape import ExitHead
from cascada.systems.load import model_digest

STATES_FOLDER = "states"
"""Inside OUT, until it is finished."""

Advance = Callable[[int], None]
Choose = Callable[[ExitScores, Halves, Advance], Tuning]
"""Chooses a plan on the first of the halves and checks it on the second."""
Step = Callable[[str, int, str], AbstractContextManager[Advance]]
"""Begins a step, given its name, how much there is to do, and the unit; yields what to call with what was done."""


def default_exits(depth: int) -> tuple[int, ...]:
    """Exit 0, the end of each of the first four sixths of the layers, and the last layer: 0, 2, 4, 6, 8, 12."""
    sixths = (max(1, round(depth * part / 6)) for part in range(1, 5))
    return (0, *dict.fromkeys(layer for layer in sixths if layer < depth), depth)


def checked_exits(exits: Sequence[int] | None, depth: int) -> tuple[int, ...]:
    """The exits that were asked for, with the last layer; the default ones if none were."""
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
    """One run: the model, its questions, and where the cascade goes."""

    model: Path
    questions: Questions
    out: Path
    choose: Choose
    step: Step
    exits: Sequence[int] | None = None
    seed: int = 0

    def run(self) -> Accelerated:
        """Make the cascade, or continue where a killed run stopped."""
        require_no_ranker(self.out)
        own = PooledNetwork.load(self.model)
        exits = checked_exits(self.exits, own.network.encoder.depth)
        parts = Parts.of(len(self.questions.groups), self.seed)
        states = self._states(own, exits)
        width, learned = self._heads(states, parts)
        cascade = self._cascade(own, exits, width, learned, states, parts)
        scores = self._exit_scores(cascade, states, exits)
        halves = scores.take(parts.plan), scores.take(parts.test)
        both = scores.take(np.sort(np.concatenate((parts.plan, parts.test))))
        with self.step("replaying", len(both.questions), "questions") as advance:
            tuning = self.choose(both, halves, advance)
        result = self._result(scores, parts, width, tuning)
        self._write(cascade, result)
        return result

    @property
    def owner(self) -> Ints:
        """The number of the question of each pair, (pairs,)."""
        groups = self.questions.groups
        return np.repeat(np.arange(len(groups)), [len(group.candidates) for group in groups])

    def _states(self, own: PooledNetwork, exits: tuple[int, ...]) -> States:
        layers = [exit for exit in exits[:-1] if exit]
        about = {"model": model_digest(str(self.model)), "data": data_digest(self.questions.groups)}
        folder = self.out / STATES_FOLDER
        states = States.opened(folder, about, layers=layers, pairs=self.questions.pairs, width=own.width)
        with self.step("running the model", self.questions.pairs, "pairs") as advance:
            states.fill(own, self.questions.groups, advance)
        return states

    def _heads(self, states: States, parts: Parts) -> tuple[int, dict[int, Learned]]:
        lists = {layer: Lists(values, states.scores, self.owner) for layer, values in states.layers.items()}
        if not lists:
            return 0, {}
        with self.step("learning heads", len(lists), "exits") as advance:
            return learn_heads(lists, parts.heads, parts.plan, seed=self.seed, advance=advance)

    def _cascade(
        self,
        own: PooledNetwork,
        exits: tuple[int, ...],
        width: int,
        learned: Mapping[int, Learned],
        states: States,
        parts: Parts,
    ) -> PooledNetwork:
        """The same model with exits; the weights of its layers and of its own head are not touched."""
        network = with_added_exits(own.network, exits, ExitHead("both", width))
        for layer, head in learned.items():
            network.heads[str(layer)].load_state_dict(head.head.state_dict())
        cascade = PooledNetwork(network, own.tokenizer)
        if network.exit_zero:
            network.exit_zero.set_idf(own.tokenizer, self.questions.texts)
            rows = np.flatnonzero(np.isin(self.owner, parts.heads))
            scores = self._exit_zero_scores(cascade, [self.questions.groups[number] for number in parts.heads])
            network.exit_zero.rescale(*score_scaling(scores, states.scores[rows]))
        return cascade

    def _exit_zero_scores(self, cascade: PooledNetwork, groups: Sequence[Group]) -> Floats:
        network = cascade.network
        assert network.exit_zero is not None
        stage = ExitZero(network.exit_zero.vectors(network.encoder), cascade.tokenizer)
        return stage.score(pairs_of(groups), None, NO_DEADLINE).scores

    def _exit_scores(self, cascade: PooledNetwork, states: States, exits: tuple[int, ...]) -> ExitScores:
        """The scores of all pairs at every exit, with the model's own best candidate as the correct one."""
        rows = []
        for exit in exits[:-1]:
            if exit:
                with torch.inference_mode():
                    head = cascade.network.heads[str(exit)].cpu()
                    rows.append(head(torch.from_numpy(states.layers[exit].astype(np.float32)))[:, 0].numpy())
            else:
                rows.append(self._exit_zero_scores(cascade, self.questions.groups))
        scores = np.stack([*rows, states.scores])  # (exits, pairs)
        ends = np.cumsum([len(group.candidates) for group in self.questions.groups])[:-1]
        by_question = np.split(scores, ends, axis=1)
        questions = tuple(map(scored_by_model, self.questions.groups, by_question))
        layers = tuple(np.diff((0, *exits)).tolist())
        return ExitScores(exits, layers, exits[-1], questions)

    def _result(self, scores: ExitScores, parts: Parts, width: int, tuning: Tuning) -> Accelerated:
        tested = scores.take(parts.test).questions
        own = np.concatenate([question.scores for question in tested], axis=1)
        owner = np.repeat(np.arange(len(tested)), [question.candidates for question in tested])
        kind = f"a head with {width} hidden units" if width else "a linear head"
        exits = tuple(
            ExitReport(exit, kind if exit else "late interaction of the embeddings", ranks_of_best(row, own[-1], owner))
            for exit, row in zip(scores.exits[:-1], own[:-1], strict=True)
        )
        counts = {"heads": len(parts.heads), "plan": len(parts.plan), "test": len(parts.test)}
        counts["left_out"] = self.questions.short + self.questions.repeated
        return Accelerated(self.out, str(self.model), counts, self.questions.pairs, exits, scores.exits[-1], tuning)

    def _write(self, cascade: PooledNetwork, result: Accelerated) -> None:
        """Write the report and the plan before the model: a folder that is a ranker has all of them."""
        write_report(result, self.out)
        exits = cascade.network.shape.exits
        about = {key: value for key, value in result.to_dict().items() if key in ("model", "agreement", "certificate")}
        write_plan(self.out, result.plan, exits, about)
        card = f"{result.markdown()}\nThe card of the model follows.\n\n{read_card(self.model)}".rstrip() + "\n"
        save(cascade.network, self.out, tokenizer=self.model, card=card)
        shutil.rmtree(self.out / STATES_FOLDER, ignore_errors=True)


def scored_by_model(group: Group, scores: Floats) -> ScoredQuestion:
    """A question whose only correct candidate is the one that the model scores highest."""
    labels = np.zeros(scores.shape[1], np.int64)
    labels[best_first(scores[-1])[0]] = 1
    return ScoredQuestion(scores, labels, tuple(str(candidate.id) for candidate in group.candidates))
