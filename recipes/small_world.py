"""The small data of `cascada reproduce --quick`: all that the short recipes ask for, under the same names, in seconds.

    python recipes/small_world.py

It is made in the current folder, from the examples: questions of SelQA and of SQuAD in the layouts of WikiQA, TREC-QA,
QNLI, ASNQ, Natural Questions and SQuAD's sentences, word vectors drawn at random, and encoders that have their layers
but a width of 32 and no training. Figures measured on it mean nothing: it only shows that every step works.
"""

from __future__ import annotations

import gzip
import itertools
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cascada.data import Candidate, Group, read, write_jsonl
from cascada.data.spans import Paragraph, read_paragraphs, write_paragraphs
from cascada.systems.load import BUNDLED_FOLDER
from cascada.text.words import words

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TOKENIZER = BUNDLED_FOLDER / "tokenizer.json"
ENCODERS = {"intfloat/e5-small": 12, "sentence-transformers/all-MiniLM-L6-v2": 6}
MARK = "small-world.txt"
WIDTH = 32
WIKIQA = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel"


def main() -> None:
    home = Path()
    mark = home / MARK
    if mark.exists() and mark.read_text().endswith("complete\n"):
        return
    if not mark.exists() and (taken := [name for name in ("data", "runs", *ENCODERS) if (home / name).exists()]):
        sys.exit(f"{home.resolve()} has {', '.join(taken)} of its own: the small data needs another folder.")
    mark.write_text("data/ and the encoders here were made up by recipes/small_world.py\n")
    make(home)
    with mark.open("a") as file:
        file.write("complete\n")


def make(home: Path) -> None:
    paragraphs = read_paragraphs(EXAMPLES / "questions.json")
    selqa = list(read(EXAMPLES / "selqa.jsonl"))
    squad = [group for group in read(f"squad:{EXAMPLES / 'questions.json'}") if 2 < len(group.candidates) < 12][:40]
    makers: dict[str, Callable[[Path], object]] = {
        "wikiqa": lambda folder: wikiqa(folder, selqa),
        "trecqa": lambda folder: trecqa(folder, squad),
        "squad_sentences": lambda folder: squad_sentences(folder, selqa),
        "xquad": lambda folder: write_paragraphs(asked_once(paragraphs), folder / "xquad.en.json"),
        "squad": lambda folder: [
            write_paragraphs(paragraphs[:30], folder / "train-v1.1.json"),
            write_paragraphs(paragraphs[30:40], folder / "dev-v1.1.json"),
        ],
        "tydiqa": lambda folder: write_paragraphs(paragraphs[:20], folder / "train.json"),
        "nq": lambda folder: [
            write_jsonl(selqa[32:], folder / "nq-as2.jsonl"),
            write_paragraphs(paragraphs[40:], folder / "nq-open-gold.json"),
        ],
        "wikipedia_pool": lambda folder: passages(folder / "passages.jsonl.gz", selqa),
        "qed": lambda folder: write_jsonl(selqa[32:], folder / "qed-dev.jsonl"),
        "qnli": lambda folder: qnli(folder, squad),
        "asnq": lambda folder: asnq(folder, squad),
        "natural_questions/dev": lambda folder: natural_questions(folder / "dev.jsonl", paragraphs),
    }
    for name, maker in makers.items():
        folder = home / "data" / name
        folder.mkdir(parents=True, exist_ok=True)
        maker(folder)
    texts = [text for group in selqa + squad for text in (group.question, *group.texts)]
    vectors(home / "data" / "spacy-md", texts)
    for name, layers in ENCODERS.items():
        encoder(home / name, layers)


def splits(groups: Sequence[Group]) -> dict[str, Sequence[Group]]:
    return {"train": groups[:24], "dev": groups[24:32], "test": groups[32:]}


def wikiqa(folder: Path, groups: Sequence[Group]) -> None:
    """In the released layout; the first question of each split has no correct candidate."""
    for name, members in splits(groups).items():
        lines = [WIKIQA]
        for number, group in enumerate(members):
            for place, answer in enumerate(group.candidates):
                label = answer.label if number else 0
                lines.append(f"Q{number}\t{group.question}\tD{number}\tPage\tD{number}-{place}\t{answer.text}\t{label}")
        write(folder / f"WikiQA-{name}.tsv", lines)


def trecqa(folder: Path, groups: Sequence[Group]) -> None:
    for name, members in (splits(groups) | {"train-all": groups[:24]}).items():
        write_jsonl(members, folder / f"{name}.jsonl")


def squad_sentences(folder: Path, groups: Sequence[Group]) -> None:
    """Four questions to an article."""
    for name, members in (("dev", groups[:8]), ("test", groups[8:])):
        write(folder / f"src-{name}.txt", [right(group).text for group in members])
        write(folder / f"tgt-{name}.txt", [group.question for group in members])
        write(folder / f"doclist-{name}.txt", [f"{name}_{place // 4}" for place in range(len(members))])


def asked_once(paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    return [replace(paragraph, questions=paragraph.questions[:1]) for paragraph in paragraphs]


def qnli(folder: Path, groups: Sequence[Group]) -> None:
    rows = [
        (group.question, one.text, label)
        for group in groups
        for one, label in ((right(group), "entailment"), (wrong(group)[0], "not_entailment"))
    ]
    for name in ("train", "dev"):
        lines = ["\t".join((str(place), *row)) for place, row in enumerate(rows)]
        write(folder / f"{name}.tsv", ["index\tquestion\tsentence\tlabel", *lines])


def asnq(folder: Path, groups: Sequence[Group]) -> None:
    """Wrong candidates have the labels 1, 2 and 3 in turn."""
    for name, members in splits(groups).items():
        lines = []
        for group in members:
            lines.append(f"{group.question}\t{right(group).text}\t4")
            grades = itertools.cycle((1, 2, 3))
            lines += [f"{group.question}\t{one.text}\t{next(grades)}" for one in wrong(group)]
        write(folder / f"{name}.tsv", lines)


def right(group: Group) -> Candidate:
    return next(candidate for candidate in group.candidates if candidate.label)


def wrong(group: Group) -> list[Candidate]:
    return [candidate for candidate in group.candidates if not candidate.label]


def natural_questions(path: Path, paragraphs: Sequence[Paragraph]) -> None:
    """A page per article, with the first question of each of its paragraphs, in the simplified release's layout."""
    records = []
    for title, members in itertools.groupby(paragraphs, key=lambda paragraph: paragraph.title):
        article = list(members)
        blocks = [["<P>", *tokens(paragraph.text), "</P>"] for paragraph in article]
        starts = list(itertools.accumulate((len(block) for block in blocks), initial=0))
        page = " ".join(token for block in blocks for token in block)
        for start, block, paragraph in zip(starts, blocks, article, strict=False):
            question = paragraph.questions[0]
            answer = tokens(question.answers[0].text)
            place = next((i for i in range(len(block)) if block[i : i + len(answer)] == answer), None)
            if place is not None:
                short = {"start_token": start + place, "end_token": start + place + len(answer)}
                long = {"start_token": start, "end_token": start + len(block)}
                marked = {"yes_no_answer": "NONE", "long_answer": long, "short_answers": [short]}
                name = {"example_id": question.id, "question_text": question.text, "document_title": title}
                records.append(name | {"document_text": page, "annotations": [marked]})
    write(path, [json.dumps(record, ensure_ascii=False) for record in records])


def tokens(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


def vectors(path: Path, texts: Iterable[str]) -> None:
    """In GloVe's layout, which is a file; spaCy's is a folder."""
    known = sorted({word for text in texts for word in words(text)})
    numbers = np.random.default_rng(1).normal(size=(len(known), WIDTH)).round(3)
    write(path, [f"{word} {' '.join(map(str, row))}" for word, row in zip(known, numbers.tolist(), strict=True)])


def encoder(folder: Path, layers: int) -> None:
    import torch
    from transformers import BertConfig, BertModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.manual_seed(7)
    vocabulary = len(json.loads(TOKENIZER.read_text(encoding="utf-8"))["model"]["vocab"])
    size = {"hidden_size": WIDTH, "intermediate_size": 2 * WIDTH, "num_attention_heads": 4, "num_hidden_layers": layers}
    BertModel(BertConfig(vocab_size=vocabulary, initializer_range=0.1, **size)).save_pretrained(folder)
    shutil.copy(TOKENIZER, folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))


def passages(path: Path, groups: Sequence[Group]) -> None:
    texts = dict.fromkeys(" ".join(group.texts) for group in groups)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{json.dumps({'id': f'W{place}', 'text': text})}\n" for place, text in enumerate(texts))


def write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
