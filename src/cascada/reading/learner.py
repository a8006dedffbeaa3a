"""How a reader learns: to point at the answer's first and last token, or at the window's first where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from accelerate.utils import gather_object
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import set_seed

import cascada
from cascada.encoders.files import tokenizer_folder
from cascada.metrics import answer_scores
from cascada.reading import Reader
from cascada.reading.examples import Asked, SpanExamples, asked_in, wrong_texts
from cascada.reading.network import ReaderModel, begin, reader_of, save
from cascada.reading.settings import ReaderRecipe
from cascada.text.windows import WindowTokenizer
from cascada.training.examples import Examples
from cascada.training.history import best_of
from cascada.training.run_folder import CHECKPOINTS
from cascada.training.trainer import LearnerTrainer

AT_ONCE = 64
"""Questions that are measured together."""


class ReaderLearner:
    """A reader's model and its tokenizer."""

    some_unused = False

    def __init__(self, model: ReaderModel, tokenizer: WindowTokenizer, files: Path, examples: SpanExamples) -> None:
        """`files` is the folder with the tokenizer's files."""
        self.model = model
        self.tokenizer = tokenizer
        self.files = files
        self.examples: Examples = examples
        self.rates: dict[str, float] = {}

    @classmethod
    def of(cls, recipe: ReaderRecipe) -> ReaderLearner:
        """A new reader on the recipe's encoder, with what it is to be trained on."""
        asked, wrong = asked_in(recipe.train), wrong_texts(recipe.train)
        settings = recipe.model
        model = begin(**settings.model_dump())
        files = tokenizer_folder(settings.encoder)
        tokenizer = WindowTokenizer.load(
            files, max_length=settings.max_length, overlap=settings.overlap, pad_id=model.pad_id
        )
        return cls(model, tokenizer, files, SpanExamples.spans(asked, wrong, tokenizer))

    def start(self, updates: int) -> None:
        """Every update is like the others."""

    def loss(self, model: nn.Module, inputs: dict[str, Any], update: int) -> tuple[Tensor, dict[str, Tensor]]:
        names = ("ids", "mask", "types", "document")
        logits = model(*(inputs[name] for name in names))  # (windows, tokens, 2)
        start, end = cross_entropy(logits[..., 0], inputs["starts"]), cross_entropy(logits[..., 1], inputs["ends"])
        return (start + end) / 2, {}

    def reader(self) -> Reader:
        """The model as it is now, to be measured."""
        return reader_of(self.model, self.tokenizer)

    def save(self, folder: Path, card: str) -> None:
        save(self.model, folder, tokenizer=self.files, card=card)


class ReaderTrainer(LearnerTrainer):
    """Trains a reader and watches F1 on questions asked of their own paragraphs."""

    measure = "F1"
    learner: ReaderLearner

    def _measure(self, groups: list[Any]) -> dict[str, float]:
        """Read, each process its share, and measure."""
        self.model.eval()
        own = groups[self.args.process_index :: self.args.world_size]
        answers = read_all(self.learner.reader(), own, always=all(one.answers for one in groups))
        if self.args.world_size > 1:
            answers = {name: answer for part in gather_object([answers]) for name, answer in part.items()}
        return answer_scores(answers, {one.id: [answer.text for answer in one.answers] for one in groups})


def read_all(reader: Reader, asked: list[Asked], *, always: bool) -> dict[str, str]:
    """Question id → the best answer of its own text; if not `always`, only if it is likely."""
    found: dict[str, str] = {}
    for start in range(0, len(asked), AT_ONCE):
        some = asked[start : start + AT_ONCE]
        spans = reader.read_many([(one.question, [one.text]) for one in some])
        found |= {
            one.id: best[0].text if best and (always or best[0].likely) else ""
            for one, best in zip(some, spans, strict=True)
        }
    return found


def trainer(recipe: ReaderRecipe, folder: Path) -> ReaderTrainer:
    """Everything read and built, ready to train."""
    dev = asked_in(recipe.dev)
    set_seed(recipe.training.seed)  # the new layer's first weights
    return ReaderTrainer(ReaderLearner.of(recipe), dev, recipe.training, folder / CHECKPOINTS)


def card(recipe: ReaderRecipe, examples: Examples, history: dict[str, list[dict[str, float]]]) -> str:
    best = best_of(history["dev"])
    settings = yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False)
    return f"""# A Cascada reader

Finds short answers to questions in texts. Trained with Cascada {cascada.__version__} from `{recipe.model.encoder}` on
`{recipe.train.source}` ({int(examples.labels.sum()):,} windows with an answer, {len(examples):,} in all).

| measure on `{recipe.dev.source}` | after epoch {best["epoch"]:.3g} |
|---|---|
| exact match | {best["EM"]:.4f} |
| F1 | {best["F1"]:.4f} |

The weights are under the licences of what they started from and of the data they were made from.

## Recipe

```yaml
{settings}```

## Use

```python
from cascada.reading import Reader

Reader.load("this folder").read(question, texts)
```
"""
