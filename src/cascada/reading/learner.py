"""Training a reader to predict the first and last token of the answer, or the window's first token if it has none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from accelerate.utils import gather_object
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import set_seed

import cascada
from cascada.encoders.encoder import set_encoder_dropout
from cascada.encoders.files import tokenizer_folder
from cascada.reading import Reader
from cascada.reading.engine_torch import reader_of
from cascada.reading.examples import SpanExamples, incorrect_texts, marked_questions
from cascada.reading.folder import begin, save
from cascada.reading.measure import MarkedQuestion, all_answerable, answer_evaluation, read_all
from cascada.reading.network import ReaderNetwork
from cascada.reading.settings import ReaderRecipe
from cascada.text.windows import WindowTokenizer
from cascada.training.examples import Examples
from cascada.training.history import History, best_row
from cascada.training.run_folder import CHECKPOINTS
from cascada.training.trainer import LearnerTrainer


class ReaderLearner:
    """A reader's network, its tokenizer and its training examples."""

    has_unused_weights = False

    def __init__(self, model: ReaderNetwork, tokenizer: WindowTokenizer, files: Path, examples: SpanExamples) -> None:
        """`files`: the folder of the tokenizer's files, which are copied into the trained reader's."""
        self.model = model
        self.tokenizer = tokenizer
        self.files = files
        self.examples: Examples = examples
        self.learning_rates: dict[str, float] = {}

    @classmethod
    def of(cls, recipe: ReaderRecipe) -> ReaderLearner:
        """A new reader on the recipe's encoder, with its training examples."""
        questions, incorrect = marked_questions(recipe.train), incorrect_texts(recipe.train)
        settings = recipe.model
        model = begin(**settings.model_dump())
        if recipe.training.encoder_dropout is not None:
            set_encoder_dropout(model, recipe.training.encoder_dropout)
        files = tokenizer_folder(settings.encoder)
        tokenizer = WindowTokenizer.load(
            files, max_length=settings.max_length, overlap=settings.overlap, pad_id=model.pad_id
        )
        return cls(model, tokenizer, files, SpanExamples.spans(questions, incorrect, tokenizer))

    def begin(self, updates: int) -> None:
        """Nothing depends on the number of updates."""

    def loss(self, model: nn.Module, inputs: dict[str, Any], update: int) -> tuple[Tensor, dict[str, Tensor]]:
        names = ("ids", "mask", "types", "document")
        logits = model(*(inputs[name] for name in names))  # (windows, tokens, 2)
        start, end = cross_entropy(logits[..., 0], inputs["starts"]), cross_entropy(logits[..., 1], inputs["ends"])
        return (start + end) / 2, {}

    def reader(self) -> Reader:
        """The model in its present state as a reader, to be measured."""
        return reader_of(self.model, self.tokenizer)

    def save(self, folder: Path, card: str) -> None:
        save(self.model, folder, tokenizer=self.files, card=card)


class ReaderTrainer(LearnerTrainer):
    """Trains a reader; F1 of the answers to dev questions selects the best checkpoint."""

    measure = "F1"
    learner: ReaderLearner

    def _measure(self, questions: list[MarkedQuestion]) -> dict[str, float]:
        """Exact match and F1; each process reads its share of the questions."""
        self.model.eval()
        share = questions[self.args.process_index :: self.args.world_size]
        answers = read_all(self.learner.reader(), share, always=all_answerable(questions))
        if self.args.world_size > 1:
            answers = {name: answer for part in gather_object([answers]) for name, answer in part.items()}
        return answer_evaluation(answers, questions).mean


def trainer(recipe: ReaderRecipe, folder: Path) -> ReaderTrainer:
    """Read the data and build the reader, ready to train."""
    dev = marked_questions(recipe.dev)
    set_seed(recipe.training.seed)  # for the initial weights of the new layer
    return ReaderTrainer(ReaderLearner.of(recipe), dev, recipe.training, folder / CHECKPOINTS)


def card(recipe: ReaderRecipe, examples: Examples, history: History) -> str:
    """The model card: recipe, training data, and quality on the dev set."""
    best = best_row(history["dev"])
    settings = yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False)
    return f"""# A Cascada reader

Finds short answers to questions in texts. Trained with Cascada {cascada.__version__} from `{recipe.model.encoder}` on
`{recipe.train.source}` ({int(examples.labels.sum()):,} windows with an answer, {len(examples):,} in all).

| measure on `{recipe.dev.source}` | after epoch {best["epoch"]:.3g} |
|---|---|
| exact match | {best["EM"]:.4f} |
| F1 | {best["F1"]:.4f} |

The licences of the initial weights and of the training data apply to these weights.

## Recipe

```yaml
{settings}```

## Use

```python
from cascada.reading import Reader

Reader.load("this folder").read(question, texts)
```
"""
