"""What the training runs of all kinds of rankers have in common: data, teacher, trainer and model card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from transformers import set_seed

import cascada
from cascada.data import Group
from cascada.systems.registry import part
from cascada.training.batches import BatchPlan
from cascada.training.examples import Examples, measured_groups, training_groups
from cascada.training.learner import RankerLearner
from cascada.training.run_folder import CHECKPOINTS
from cascada.training.settings import Recipe
from cascada.training.teacher import taught_scores
from cascada.training.trainer import RankerTrainer

NewLearner = Callable[[Recipe[Any, Any], list[Group], list[Group]], RankerLearner]
"""From a recipe, the groups to train on and those to be measured on, to a new ranker to be trained."""


def ranker_trainer(recipe: Recipe[Any, Any], folder: Path, new_learner: NewLearner) -> RankerTrainer:
    """Everything read and built, ready to train a ranker."""
    settings = recipe.training
    train_groups, dev = training_groups(recipe.train), measured_groups(recipe.dev, "dev")
    watch = measured_groups(recipe.watch, "watch") if recipe.watch else None
    set_seed(settings.seed)  # the new layers' first weights
    learner = new_learner(recipe, train_groups, dev + (watch or []))
    if settings.teacher:
        used = BatchPlan(learner.examples, settings).used
        taught = taught_scores(settings.teacher, train_groups, folder, used=used)
        learner.examples = replace(learner.examples, taught=taught)
    return RankerTrainer(learner, dev, settings, folder / CHECKPOINTS, watch=watch)


def ranker_card(recipe: Recipe[Any, Any], examples: Examples, history: dict[str, list[dict[str, float]]]) -> str:
    """The model card: what trained the ranker, on what, and how well it does on the dev set."""
    best = max(history["dev"], key=lambda row: row["MAP"])
    measures = "\n".join(f"| {name} | {best[name]:.4f} |" for name in ("MAP", "MRR", "P@1", "nDCG@10"))
    settings = yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False)
    origin = part(recipe.model.kind, "settings").origin(recipe.model)
    return f"""# A Cascada ranker

Ranks candidate sentences by how well they answer a question. Trained with Cascada {cascada.__version__} from
{origin} on `{recipe.train.source}` ({len(examples):,} pairs, {int(examples.labels.sum()):,} correct).

| measure on `{recipe.dev.source}` {recipe.dev.split or ""} ({recipe.dev.mode}) | after epoch {best["epoch"]:.3g} |
|---|---|
{measures}

The weights are under the licences of what they started from and of the data they were made from.

## Recipe

```yaml
{settings}```

## Use

```python
from cascada import Ranker

Ranker.load("this folder").rank(question, sentences)
```
"""
