"""What the training runs of all kinds of rankers have in common: trainer, data, teacher and model card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from accelerate.utils import gather_object
from transformers import set_seed

import cascada
from cascada.data import Group, qrels
from cascada.metrics import evaluate
from cascada.ranking.runs import exit_runs
from cascada.systems.registry import part
from cascada.training.batches import BatchPlan
from cascada.training.examples import Examples
from cascada.training.groups import measured_groups, training_groups
from cascada.training.history import History, best_row
from cascada.training.learner import RankerLearner
from cascada.training.precision import products_in
from cascada.training.run_folder import CHECKPOINTS
from cascada.training.settings import Recipe
from cascada.training.teacher import teacher_scores
from cascada.training.trainer import LearnerTrainer

NewLearner = Callable[[Recipe[Any, Any], list[Group], list[Group]], RankerLearner]
"""Takes a recipe, the groups to train on and the groups to measure on; returns a new ranker with its examples."""


class RankerTrainer(LearnerTrainer):
    """Trains a ranker of any kind; MAP on the dev groups, which must have ids, selects the best checkpoint."""

    measure = "MAP"
    learner: RankerLearner

    def _measure(self, groups: list[Group]) -> dict[str, float]:
        """The measures of the last exit, and MAP of each earlier exit; each process ranks its share of the groups."""
        self.model.eval()
        share = groups[self.args.process_index :: self.args.world_size]
        ranker = self.learner.ranker()
        runs = exit_runs(ranker, share)
        if self.args.world_size > 1:
            parts = gather_object([runs])
            runs = [{name: scores for part in parts for name, scores in part[at].items()} for at in range(len(runs))]
        *early, last = (evaluate(run, qrels(groups)).mean for run in runs)
        return last | {f"MAP@{exit}": mean["MAP"] for exit, mean in zip(ranker.exits, early, strict=False)}


def build_ranker_trainer(recipe: Recipe[Any, Any], folder: Path, new_learner: NewLearner) -> RankerTrainer:
    """Read the data, build the ranker, ask the teacher if there is one, and return the trainer."""
    settings = recipe.training
    train_groups, dev = training_groups(recipe.train), measured_groups(recipe.dev, "dev")
    watch = measured_groups(recipe.watch, "watch") if recipe.watch else None
    set_seed(settings.seed)  # for the initial weights of new layers
    learner = new_learner(recipe, train_groups, dev + (watch or []))
    if settings.teacher:
        used = BatchPlan(learner.examples, settings).used
        with products_in(settings.precision):
            scores = teacher_scores(settings.teacher, train_groups, folder, used=used)
        learner.examples = replace(learner.examples, teacher_scores=scores)
    return RankerTrainer(learner, dev, settings, folder / CHECKPOINTS, watch=watch)


def ranker_card(recipe: Recipe[Any, Any], examples: Examples, history: History) -> str:
    """The model card: recipe, training data, and quality on the dev set."""
    best = best_row(history["dev"])
    measures = "\n".join(f"| {name} | {best[name]:.4f} |" for name in ("MAP", "MRR", "P@1", "nDCG@10"))
    settings = yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False)
    origin = part(recipe.model.kind, "settings").origin(recipe.model)
    return f"""# A Cascada ranker

Ranks candidate sentences by how well they answer a question. Trained with Cascada {cascada.__version__} from
{origin} on `{recipe.train.source}` ({len(examples):,} pairs, {int(examples.labels.sum()):,} correct).

| measure on `{recipe.dev.source}` {recipe.dev.split or ""} ({recipe.dev.mode}) | after epoch {best["epoch"]:.3g} |
|---|---|
{measures}

The licences of the initial weights and of the training data apply to these weights.

## Recipe

```yaml
{settings}```

## Use

```python
from cascada import Ranker

Ranker.load("this folder").rank(question, sentences)
```
"""
