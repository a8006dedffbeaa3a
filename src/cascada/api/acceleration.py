"""Acceleration of a cross-encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from cascada.acceleration.lists import CANDIDATES, Lists, read_questions, require_lists, retrieved, usable
from cascada.acceleration.parts import check_enough
from cascada.api.arguments import Data, LocalPath, OnProgress, load_data, read_texts, reporting
from cascada.api.tuning import chooser
from cascada.core.errors import CascadaError, require, require_torch
from cascada.core.folder import require_no_ranker
from cascada.data import Group
from cascada.ranking.tuning import ExitScores, Tuning, default_grid
from cascada.systems.load import folder_of

if TYPE_CHECKING:
    from cascada.acceleration.report import Accelerated

KEEP_BEST = 0.95
"""The default guarantee: the share of questions in which the model's own best candidate survives."""


def accelerate(
    model: LocalPath,
    questions: Data,
    out: LocalPath,
    *,
    root: LocalPath | None = None,
    split: str | None = None,
    corpus: LocalPath | Sequence[str] | None = None,
    candidates: int = CANDIDATES,
    exits: Sequence[int] | None = None,
    keep_best: float | None = None,
    confidence: float = 0.95,
    budget: float | None = None,
    loss: float | None = None,
    joint: bool = False,
    epochs: int = 10,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> Accelerated:
    """Make a cascade of a cross-encoder, whose last exit is the cross-encoder itself, from questions without labels.

    `model` is a cross-encoder in the hub's layout: a folder, or a hub name. `questions` are a data set as for
    `evaluate`, whose labels are ignored. With a `corpus`, a file or a list of texts, they need no candidates: a file of
    questions is enough, and BM25 lists the best `candidates` texts for each.

    One pass through the model keeps its scores and its layers' pooled states in `out`; a run that was killed continues.
    Exit 0 and small heads on `exits` (layers; by default exit 0 and four of them) learn to agree with the model's own
    final order. The drop plan is then chosen against that order, in one of three ways:

    - `keep_best`: the model's own best candidate survives in this share of questions, with this `confidence`; the
      default, with 0.95;
    - `budget`: the best agreement of the first place at a relative cost of at most this;
    - `loss`: the cheapest plan that loses at most this share of the agreement.

    With `joint`, the layers are fine-tuned too, for this many `epochs`, by self-distillation from the model's scores.
    Exits then agree better, but the last exit is no longer identical to the model: the report says how far it agrees.

    `seed` divides the questions into thirds: one trains the heads, one chooses the plan, and one tests it.
    `out` becomes a ranker's folder, with a report and a picture of cost against agreement.
    """
    for module in ("scipy", "matplotlib"):
        require(module, "eval", "accelerating")
    require_torch("accelerating")
    if joint:
        require("accelerate", "train", "fine-tuning the layers")
        if isinstance(epochs, bool) or not isinstance(epochs, int) or epochs < 1:
            raise CascadaError(f"epochs is {epochs!r}; it must be a whole number from 1.")
    from cascada.acceleration.accelerate import Acceleration
    from cascada.acceleration.report import AGREEMENT

    if keep_best is None and budget is None and loss is None:
        keep_best = KEEP_BEST
    choose_plan = chooser(budget, loss, keep_best, confidence, AGREEMENT)
    require_no_ranker(Path(out))
    lists = _lists(questions, root, split, corpus, candidates, on_progress)
    check_enough(len(lists.groups), keep_best, confidence)
    folder = folder_of(str(model))

    def choose(scores: ExitScores, halves: tuple[ExitScores, ExitScores], advance: Callable[[int], None]) -> Tuning:
        plans = default_grid(len(scores.exits), free=scores.free)
        return choose_plan(scores, plans, measure=AGREEMENT, halves=halves, advance=advance)

    def step(name: str, total: int, unit: str) -> AbstractContextManager[Callable[[int], None]]:
        return reporting(on_progress, name, total, unit)

    return Acceleration(folder, lists, Path(out), choose, step, exits, seed, epochs if joint else 0).run()


def _lists(
    questions: Data,
    root: LocalPath | None,
    split: str | None,
    corpus: LocalPath | Sequence[str] | None,
    candidates: int,
    on_progress: OnProgress | None,
) -> Lists:
    """The candidate lists, as they come or from the corpus."""
    if corpus is None:
        if isinstance(questions, (str, Path)):
            require_lists(Path(questions))
        return usable(load_data(questions, root, split, "raw", default_split="train")[0])
    asked = list(_asked(questions, root, split))
    if not asked:
        raise CascadaError(f"{questions} has no questions.")
    texts = read_texts(corpus) if isinstance(corpus, (str, Path)) else list(corpus)
    with reporting(on_progress, "listing candidates", len(asked), "questions") as advance:
        return usable(_counted(retrieved(asked, texts, candidates), advance))


def _asked(questions: Data, root: LocalPath | None, split: str | None) -> Iterable[Group]:
    """The questions alone: from a file, or from a data set whose candidates are ignored."""
    if isinstance(questions, (str, Path)) and Path(questions).is_file() and root is None:
        return read_questions(Path(questions))
    return load_data(questions, root, split, "raw", default_split="train")[0]


def _counted(groups: Iterable[Group], advance: Callable[[int], None]) -> Iterator[Group]:
    for group in groups:
        advance(1)
        yield group
