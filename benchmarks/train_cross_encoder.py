"""Train a cross-encoder with sentence-transformers' own trainer, as its users do: a model to accelerate.

    python benchmarks/train_cross_encoder.py minilm-l6 squad/train-v1.1.json.gz OUT --questions 5000 --bf16

A pair is a SQuAD question with the sentence that holds its answer (label 1) or with another sentence of the same
article (label 0): the two that BM25 puts first, and one at random. A batch has pairs of similar length, so that little
is padded. Cascada has no part in the training; it only reads SQuAD and splits sentences. `--bf16` computes in bfloat16:
twice as fast on processors with instructions for it, and slower on others.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from sentence_transformers import CrossEncoder
from sentence_transformers.base.sampler import DefaultBatchSampler
from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

from cascada.data.spans import Paragraph, Question, read_paragraphs
from cascada.text.bm25 import BM25Index
from cascada.text.sentences import sentences

HARD, RANDOM = 2, 1
"""Wrong sentences of a question: the first of BM25, and others of the article."""


def pairs(path: Path, questions: int, seed: int) -> list[tuple[str, str, float]]:
    """Question, sentence and label, of some questions of every article."""
    chance = random.Random(seed)
    articles = [list(members) for _, members in groupby(read_paragraphs(path), key=lambda member: member.title)]
    share = -(-questions // len(articles))  # rounded up: the last articles may give none
    rows = [row for article in articles for row in _article_pairs(article, share, chance)]
    return rows[: questions * (1 + HARD + RANDOM)]


def _article_pairs(article: list[Paragraph], share: int, chance: random.Random) -> Iterator[tuple[str, str, float]]:
    asked = [(question, paragraph) for paragraph in article for question in paragraph.questions if question.answers]
    texts = [sentence.text for paragraph in article for sentence in sentences(paragraph.text)]
    index = BM25Index(texts)
    for question, paragraph in chance.sample(asked, min(share, len(asked))):
        yield question.text, _answering(question, paragraph), 1.0
        wrong = [text for text in texts if not any(answer in text for answer in question.answer_texts)]
        allowed = set(wrong)
        hard = [texts[place] for place in index.best(question.text, 20) if texts[place] in allowed][:HARD]
        for text in [*hard, *chance.sample(wrong, min(RANDOM, len(wrong)))]:
            yield question.text, text, 0.0


def _answering(question: Question, paragraph: Paragraph) -> str:
    start = question.answers[0].start
    return [sentence.text for sentence in sentences(paragraph.text) if sentence.start <= start][-1]


class SimilarLengths(DefaultBatchSampler):
    """Batches of pairs of similar length, in random order."""

    def __iter__(self) -> Iterator[list[int]]:
        characters = [len(question) + len(text) for question, text in zip(*self._columns(), strict=True)]
        order = sorted(range(len(characters)), key=characters.__getitem__)
        starts = list(range(0, len(order), self.batch_size))
        random.Random(self.seed).shuffle(starts)
        yield from (order[start : start + self.batch_size] for start in starts)

    def _columns(self) -> tuple[list[str], list[str]]:
        data: Any = self.sampler  # what sentence-transformers' samplers call the data set
        return data["question"], data["text"]


CHECKPOINT_EVERY = 200


def train(
    encoder: str, rows: list[tuple[str, str, float]], out: Path, *, batch: int, rate: float, seed: int, bf16: bool
) -> None:
    """Train for one epoch, and save the model in sentence-transformers' own layout. A run that was killed goes on from
    its last checkpoint."""
    model = CrossEncoder(encoder, num_labels=1, max_length=128)
    questions, texts, labels = zip(*rows, strict=True)
    data = Dataset.from_dict({"question": list(questions), "text": list(texts), "label": list(labels)})
    arguments = CrossEncoderTrainingArguments(
        output_dir=str(out / "training"),
        num_train_epochs=1,
        per_device_train_batch_size=batch,
        learning_rate=rate,
        batch_sampler=SimilarLengths,
        warmup_steps=0.1,  # a share of the steps
        save_strategy="steps",
        save_steps=CHECKPOINT_EVERY,
        save_total_limit=1,
        logging_steps=50,
        report_to=[],
        seed=seed,
        bf16=bf16,
        use_cpu=not torch.cuda.is_available(),
    )
    trainer = CrossEncoderTrainer(model=model, args=arguments, train_dataset=data, loss=BinaryCrossEntropyLoss(model))
    trainer.train(resume_from_checkpoint=any((out / "training").glob("checkpoint-*")))
    model.save_pretrained(str(out), create_model_card=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("encoder", help="an encoder in the hub's layout")
    parser.add_argument("squad", type=Path, help="SQuAD's training file")
    parser.add_argument("out", type=Path)
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--bf16", action="store_true", help="compute in bfloat16")
    options = parser.parse_args()
    rows = pairs(options.squad, options.questions, options.seed)
    print(f"{len(rows)} pairs, {sum(label for *_, label in rows):.0f} of them correct", flush=True)
    settings = {"batch": options.batch, "rate": options.rate, "seed": options.seed, "bf16": options.bf16}
    train(options.encoder, rows, options.out, **settings)


if __name__ == "__main__":
    main()
