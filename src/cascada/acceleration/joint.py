"""Fine-tune a cross-encoder's layers for its exits, by self-distillation: all of them learn the model's own scores.

The last exit learns the scores that it gave before fine-tuning, so that it changes as little as the exits below allow.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import TrainerCallback, TrainerControl, TrainerState

from cascada.acceleration.pooled import PooledNetwork
from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write
from cascada.core.folder import SHAPE_FILE
from cascada.core.probe import can_run
from cascada.core.processors import cpu
from cascada.data.group import Group
from cascada.encoders.encoder import quiet
from cascada.objectives.losses import distill_list, group_count, group_sum
from cascada.ranking.executor import best_first
from cascada.ranking.stage import Floats
from cascada.systems.cross_encoder.engine_torch import ranker_of
from cascada.systems.cross_encoder.folder import load, save
from cascada.training.examples import Examples
from cascada.training.history import HistoryWriter
from cascada.training.run_folder import CHECKPOINTS
from cascada.training.schedule import EvaluationSchedule
from cascada.training.settings import BatchSettings, TrainingSettings
from cascada.training.teacher import LIST_TEMPERATURE
from cascada.training.trainer import LearnerTrainer

ABOUT_FILE, MODEL = "about.json", "model"
BEST, OTHERS = 4, 28
"""Candidates of a question in an epoch: the model's best, and a new sample of the others."""
ANCHOR = 0.05
"""The weight of the squared difference of scores. The list-wise loss alone would leave their level undetermined."""
EPOCHS = 10


@dataclass(frozen=True)
class Scored:
    """Questions, and the model's own scores of all of their candidates, (pairs,)."""

    groups: Sequence[Group]
    scores: Floats

    def by_question(self) -> list[Floats]:
        ends = np.cumsum([len(group.candidates) for group in self.groups])[:-1]
        return np.split(self.scores, ends)


def fine_tuned(
    cascade: PooledNetwork,
    learn: Scored,
    dev: Scored,
    folder: Path,
    *,
    about: Mapping[str, Any],
    tokenizer: Path,
    epochs: int = EPOCHS,
    seed: int = 0,
    begin: Callable[[int], Callable[[int], None]],
) -> PooledNetwork:
    """The network with its layers and heads fine-tuned on the questions of `learn`; the best epoch by those of `dev`.

    A run that was killed continues in `folder`, whose `about.json` must say the same. `tokenizer` is the folder that
    the model came from. `begin` is called with the number of updates, and returns a function to call with those done.
    """
    _claim(folder, {**about, "epochs": epochs, "seed": seed, "exits": list(cascade.network.shape.exits)})
    finished = folder / MODEL
    if not (finished / SHAPE_FILE).exists():
        settings = settings_of(epochs, seed)
        trainer = JointTrainer(JointLearner(cascade, learn), [dev], settings, folder / CHECKPOINTS)
        for callback in (EvaluationSchedule(trainer.plan), HistoryWriter(trainer.plan, folder), _Bar(begin)):
            trainer.add_callback(callback)
        with quiet():
            trainer.resume()
        save(trainer.learner.model, finished, tokenizer=tokenizer, card="# Fine-tuned for its exits\n")
        shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    network = load(finished).to(cascade.network.encoder.word_embeddings.device)
    return PooledNetwork(network, cascade.tokenizer)


def settings_of(epochs: int, seed: int) -> TrainingSettings:
    """How layers are fine-tuned."""
    return TrainingSettings(
        epochs=epochs,
        learning_rate=3e-5,
        batch=BatchSettings(by="questions", size=4),
        negatives=OTHERS,
        checkpoint_every=100,
        precision="bfloat16" if has_bfloat16() else "float32",
        seed=seed,
    )


def has_bfloat16() -> bool:
    """Whether products in bfloat16 are faster here: on GPUs, and on processors with instructions for them."""
    supported = cpu()["instructions"]
    fast = torch.cuda.is_available() or supported.get("avx512_bf16") or supported.get("amx_bf16")
    return bool(fast) and can_run("torch bfloat16")


class JointLearner:
    """A network with exits, and training pairs with the original model's scores as targets."""

    has_unused_weights = False
    learning_rates: Mapping[str, float] = {}

    def __init__(self, cascade: PooledNetwork, learn: Scored) -> None:
        self.model = cascade.network
        self.tokenizer = cascade.tokenizer
        self.exits = cascade.network.shape.layer_exits
        labelled = [with_best(group, scores) for group, scores in zip(learn.groups, learn.by_question(), strict=True)]
        self.examples = replace(Examples.of(labelled, cascade.tokenizer), teacher_scores=learn.scores)

    def begin(self, updates: int) -> None:
        """Nothing depends on the number of updates."""

    def loss(self, model: nn.Module, inputs: dict[str, Any], update: int) -> tuple[Tensor, dict[str, Tensor]]:
        owner, wanted, _ = (inputs.pop(name) for name in ("owner", "teacher_scores", "labels"))
        scores = model(**inputs, exits=self.exits)
        losses = {exit: self_distillation(scores[exit].float(), wanted, owner) for exit in self.exits}
        return torch.stack(list(losses.values())).mean(), {str(exit): loss for exit, loss in losses.items()}

    def save(self, folder: Path, card: str) -> None:
        raise NotImplementedError  # `fine_tuned` saves: the tokenizer is the original model's


def with_best(group: Group, scores: Floats) -> Group:
    """The group with the model's best candidates as the correct ones, which no sample leaves out."""
    best = set(best_first(scores)[: min(BEST, len(scores) // 2)].tolist())
    candidates = (replace(candidate, label=int(place in best)) for place, candidate in enumerate(group.candidates))
    return replace(group, candidates=tuple(candidates))


def self_distillation(scores: Tensor, wanted: Tensor, owner: Tensor) -> Tensor:
    """How far scores are from the model's own, all (pairs,): 0 if they are equal.

    Both are measured by the spread of the model's own scores of a question, so that every question counts the same.
    """
    groups = group_count(owner)
    count = group_sum(torch.ones_like(wanted), owner, groups).clamp(min=1)
    centred = wanted - (group_sum(wanted, owner, groups) / count)[owner]
    spread = (group_sum(centred**2, owner, groups) / count).sqrt().clamp(min=1e-3)[owner]
    order = distill_list(scores / spread / LIST_TEMPERATURE, wanted / spread / LIST_TEMPERATURE, owner)
    return order + ANCHOR * (((scores - wanted) / spread) ** 2).mean()


class JointTrainer(LearnerTrainer):
    """Selects the epoch in which the exits, the last one included, rank the model's best candidate highest."""

    measure = "agreement"
    learner: JointLearner

    def _measure(self, dev: list[Scored]) -> dict[str, float]:
        self.model.eval()
        (scored,) = dev
        ranker = ranker_of(self.learner.model, self.learner.tokenizer)
        rows = ranker.exit_scores((group.question, group.texts) for group in scored.groups)
        ranks = [
            [1 + int(np.flatnonzero(best_first(exit) == best_first(own)[0])[0]) for exit in exits]
            for exits, own in zip(rows, scored.by_question(), strict=True)
        ]
        reciprocal = (1 / np.array(ranks)).mean(0)  # (exits,)
        means = {f"MRR@{exit}": float(value) for exit, value in zip(ranker.exits, reciprocal, strict=True)}
        return {"agreement": float(reciprocal.mean()), **means}


class _Bar(TrainerCallback):  # type: ignore[misc]
    """Reports updates as they are done."""

    def __init__(self, begin: Callable[[int], Callable[[int], None]]) -> None:
        self.begin = begin

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self.advance = self.begin(state.max_steps)
        self.advance(state.global_step)

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self.advance(1)


def _claim(folder: Path, about: Mapping[str, Any]) -> None:
    """Record what is trained in the folder, or check that the record there is the same."""
    path = folder / ABOUT_FILE
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            json.dump(about, file)
        return
    written = json.loads(path.read_text(encoding="utf-8"))
    changed = [name for name, value in about.items() if written.get(name) != value]
    if changed:
        raise CascadaError(
            f"{folder} holds the fine-tuning of another run (its {changed[0]} differs): remove it, or name another OUT."
        )
