"""The model card: what trained the model, on what, and how well it does on the dev set."""

from __future__ import annotations

import yaml

import cascada
from cascada.training.examples import Examples
from cascada.training.model_settings import DecoupledSettings, ModelSettings
from cascada.training.settings import Recipe


def model_card(recipe: Recipe, examples: Examples, history: dict[str, list[dict[str, float]]]) -> str:
    best = max(history["dev"], key=lambda row: row["MAP"])
    measures = "\n".join(f"| {name} | {best[name]:.4f} |" for name in ("MAP", "MRR", "P@1", "nDCG@10"))
    settings = yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False)
    return f"""# A Cascada ranker

Ranks candidate sentences by how well they answer a question. Trained with Cascada {cascada.__version__} from
{origin(recipe)} on `{recipe.train.source}` ({len(examples):,} pairs, {int(examples.labels.sum()):,} correct).

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


def origin(recipe: Recipe) -> str:
    """What the weights started from."""
    model = recipe.model
    if isinstance(model, (ModelSettings, DecoupledSettings)):
        return f"`{model.encoder}`"
    return f"the word vectors `{model.vectors.source}`" if model.vectors else "random weights"
