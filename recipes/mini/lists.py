"""Training lists of the bundled model: questions of many kinds, each with candidates to tell apart.

    python recipes/mini/lists.py data data/mini/dev data/mini

reads the free data sets in `data` and writes `passages.jsonl` and `sentences.jsonl`, which training reads, and
`calibration.jsonl`, a sample that it does not. A question has one right candidate or more, and wrong ones of three
kinds: hard (BM25's first twelve), medium (the rest of BM25's first 150) and easy (any text). Candidates that contain
the answer's words, or share a phrase with the right one, are not used as wrong ones. No question of a development or
test set gets in, and no text that shares twelve words in a row with one of theirs.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev_sets import held_out_forum, records

from cascada.data import Candidate, Group, load, write_jsonl
from cascada.data.mining.guards import holds_answer
from cascada.data.spans import Paragraph, read_paragraphs
from cascada.text.bm25 import BM25Index
from cascada.text.context import InContext
from cascada.text.sentences import sentences
from cascada.text.words import normalise, words

PASSAGE_LISTS = {
    "squad": 600, "tydi": 1500, "nq": 2000, "boolq": 1200, "medquad": 500, "fairytale": 150, "stackexchange": 1200,
    "bioasq": 400, "hotpotqa": 150, "2wikimultihopqa": 60, "musique": 90,
}  # fmt: skip
SENTENCE_LISTS = {"squad": 3900, "tydi": 3000, "nq": 2400, "selqa": 340}
CALIBRATION = 400
SHARED_WORDS, SHARED_WITH_RIGHT = 12, 8
"""Words in a row that make two texts the same: with a test set's text, and with the right candidate."""
POOL = 60_000
"""Wikipedia passages that are added to those of the data sets, to draw wrong candidates from."""


@dataclass(frozen=True)
class Asked:
    """A question with the passage that answers it."""

    question: str
    right: str
    answers: tuple[str, ...] = ()
    """The texts of the answer; empty if the whole passage is the answer."""
    siblings: frozenset[str] = frozenset()
    """Other texts that may answer it too."""


def phrases(text: str, length: int) -> set[str]:
    """All runs of `length` words; a shorter text of at least six words is a single phrase, one of fewer has none."""
    own = words(text)
    if len(own) < 6:
        return set()
    return {" ".join(own[start : start + length]) for start in range(max(1, len(own) - length + 1))}


class Guard:
    """Keeps the questions and texts of development and test sets out of training."""

    def __init__(self, data: Path, dev: Path) -> None:
        groups = [group for path in sorted(dev.glob("*.jsonl")) for group in load(str(path), mode="raw")]
        for name in ("trecqa", "wikiqa"):
            for split in ("dev", "test"):
                groups += load(name, root=data / name, split=split, mode="raw")
        groups += load("selqa", root=data / "selqa", split="test", mode="raw")
        paragraphs = read_paragraphs(data / "tydiqa/dev.json")
        self.questions = {normalise(group.question) for group in groups}
        self.questions |= {normalise(question.text) for paragraph in paragraphs for question in paragraph.questions}
        texts = {text for group in groups for text in group.texts} | {paragraph.text for paragraph in paragraphs}
        self.phrases = set().union(*(phrases(text, SHARED_WORDS) for text in texts))

    def text(self, text: str) -> bool:
        """Whether a text may be used."""
        return len(text.split()) >= 3 and not phrases(text, SHARED_WORDS) & self.phrases

    def question(self, question: str) -> bool:
        """Whether a question may be used."""
        return normalise(question) not in self.questions and 3 <= len(words(question)) <= 40


class Negatives:
    """Draws wrong candidates from a pool of texts."""

    def __init__(self, texts: Iterable[str], draw: random.Random) -> None:
        self.texts = list(dict.fromkeys(texts))
        self.index = BM25Index(self.texts)
        self.draw = draw

    def of(self, asked: Asked, counts: tuple[int, int, int]) -> list[str]:
        """Wrong candidates: `counts` of hard, medium and easy ones."""
        near = phrases(asked.right, SHARED_WITH_RIGHT)
        found = self.index.best(asked.question, 150).tolist()
        ranges = found[:12], found[12:], range(len(self.texts))
        chosen: dict[str, None] = {}
        for numbers, count in zip(ranges, counts, strict=True):
            many = self.draw.sample(numbers, min(len(numbers), 40))
            usable = (self.texts[number] for number in many if self._wrong(self.texts[number], asked, near))
            chosen |= dict.fromkeys([text for _, text in zip(range(count), usable, strict=False)])
        return list(chosen)

    def _wrong(self, text: str, asked: Asked, near: set[str]) -> bool:
        if text == asked.right or text in asked.siblings or phrases(text, SHARED_WITH_RIGHT) & near:
            return False
        return not holds_answer(text, asked.answers)


def questions_of(path: Path) -> list[Asked]:
    """The questions of a file in SQuAD's layout."""
    return [
        Asked(question.text, paragraph.text, question.answer_texts)
        for paragraph in read_paragraphs(path)
        for question in paragraph.questions
    ]


def of_passages(data: Path, draw: random.Random) -> Iterator[tuple[str, Callable[[], Iterator[Group]]]]:
    """Each kind of passages and a function that yields its lists, in random order."""
    squad = questions_of(data / "squad/train-v1.1.json.gz")
    nq, tydi = questions_of(data / "nq/nq-open-gold.json"), questions_of(data / "tydiqa/train.json")
    boolq = [one for part in ("val", "test") for one in questions_of(data / f"boolq/boolq-{part}.json")]
    medquad = questions_of(data / "medquad/medquad.json.gz")
    tales = [
        one for part in ("train", "val", "test") for one in questions_of(data / f"fairytaleqa/fairytaleqa-{part}.json")
    ]
    pool = draw.sample([record["text"] for record in records(data / "wikipedia_pool/passages.jsonl.gz")], POOL)
    wikipedia = Negatives([*(one.right for one in (*squad, *nq, *tydi, *boolq)), *pool], draw)
    for kind, asked in (("squad", squad), ("nq", nq), ("tydi", tydi), ("boolq", boolq)):
        yield kind, lambda asked=asked: mined(asked, wikipedia, (6, 4, 2), draw)
    for kind, asked in (("medquad", medquad), ("fairytale", tales)):
        own = Negatives((one.right for one in asked), draw)
        yield kind, lambda asked=asked, own=own: mined(asked, own, (4, 3, 2), draw)
    forum = forum_questions(data)
    answers = Negatives((text for one in forum for text in (one.right, *sorted(one.siblings))), draw)
    yield "stackexchange", lambda: mined(forum, answers, (4, 3, 2), draw)
    experts = load(str(data / "bioasq/bioasq.jsonl.gz"), mode="raw")
    snippets = Negatives((text for group in experts for text in group.texts), draw)
    medical = [Asked(group.question, group.texts[0], siblings=frozenset(group.texts)) for group in experts]
    yield "bioasq", lambda: mined(medical, snippets, (5, 4, 2), draw)
    for kind in ("hotpotqa", "2wikimultihopqa", "musique"):
        groups = [several_hops(record) for record in records(data / f"multihop/{kind}.jsonl.gz")]
        yield kind, lambda groups=groups: iter(draw.sample(groups, len(groups)))


def several_hops(record: dict[str, Any]) -> Group:
    """A question with its paragraphs; the record's id is left out, since several questions may share one."""
    candidates = (Candidate(paragraph["text"], paragraph["label"]) for paragraph in record["candidates"])
    return Group(record["question"], tuple(candidates))


def forum_questions(data: Path) -> list[Asked]:
    held_out = {group.id for group in held_out_forum(data)}
    return [
        Asked(group.question, text, siblings=frozenset(group.texts))
        for group in load(str(data / "stackexchange/answers.jsonl.gz"), mode="raw")
        if group.id not in held_out
        for text, label in zip(group.texts, group.labels, strict=True)
        if label
    ]


def mined(
    asked: Sequence[Asked], negatives: Negatives, counts: tuple[int, int, int], draw: random.Random
) -> Iterator[Group]:
    for one in draw.sample(asked, len(asked)):
        wrong = negatives.of(one, counts)
        yield Group(one.question, (Candidate(one.right, 1), *(Candidate(text, 0) for text in wrong)))


def of_sentences(data: Path, draw: random.Random) -> Iterator[tuple[str, Callable[[], Iterator[Group]]]]:
    """Each kind of sentences and a function that yields its lists, in random order."""
    for kind, path in (("squad", "squad/train-v1.1.json.gz"), ("tydi", "tydiqa/train.json")):
        paragraphs = read_paragraphs(data / path)
        yield kind, lambda paragraphs=paragraphs: sentence_lists(paragraphs, draw)
    nq = load(str(data / "nq/nq-as2.jsonl"), mode="raw")
    others = Negatives((text for group in nq for text in group.texts), draw)
    yield "nq", lambda: (with_others(group, others, draw) for group in draw.sample(nq, len(nq)))
    selqa = load("selqa", root=data / "selqa", split="dev", mode="clean")
    yield "selqa", lambda: iter(draw.sample(selqa, len(selqa)))


def sentence_lists(paragraphs: Sequence[Paragraph], draw: random.Random) -> Iterator[Group]:
    """Each question with the sentences of its paragraph, and similar ones of other paragraphs.

    In half of the lists every sentence has the title of its article as context.
    """
    split = [[sentence.text for sentence in sentences(paragraph.text)] for paragraph in paragraphs]
    others = Negatives((text for own in split for text in own), draw)
    title = {
        text: paragraph.title.replace("_", " ")
        for own, paragraph in zip(split, paragraphs, strict=True)
        for text in own
    }
    asked = [
        (own, question)
        for own, paragraph in zip(split, paragraphs, strict=True)
        for question in paragraph.questions
        if question.answers
    ]
    for own, question in draw.sample(asked, len(asked)):
        holding = [text for text in own if holds_answer(text, question.answer_texts)]
        if len(holding) != 1:
            continue  # none, or several: it is not known which of them answers
        one = Asked(question.text, holding[0], question.answer_texts)
        size = draw.choice((6, 8, 10, 14))
        wrong = draw.sample([text for text in own if text != one.right], min(8, len(own) - 1))
        wrong += [text for text in others.of(one, (size, size, 1)) if text not in own][: max(0, size - 1 - len(wrong))]
        in_context = draw.random() < 0.5
        texts = [InContext(text, title[text]) if in_context else text for text in (one.right, *wrong)]
        yield Group(one.question, tuple(Candidate(text, int(place == 0)) for place, text in enumerate(texts)))


def with_others(group: Group, others: Negatives, draw: random.Random) -> Group:
    right = next((text for text, label in zip(group.texts, group.labels, strict=True) if label), "")
    more = others.of(Asked(group.question, right, siblings=frozenset(group.texts)), (draw.choice((2, 4, 6)), 0, 0))
    return Group(group.question, (*group.candidates, *(Candidate(text, 0) for text in more)))


def usable(group: Group, guard: Guard) -> Group | None:
    """The group without texts that must stay out; None if too few are left, or none to tell apart."""
    if not guard.question(group.question):
        return None
    kept = {one.text: Candidate(one.text, one.label) for one in group.candidates if guard.text(one.text)}
    labels = [one.label for one in kept.values()]
    return Group(group.question, tuple(kept.values())[:18]) if len(kept) >= 4 and len(set(labels)) == 2 else None


def taken(
    kinds: Iterator[tuple[str, Callable[[], Iterator[Group]]]],
    counts: dict[str, int],
    guard: Guard,
    draw: random.Random,
) -> list[Group]:
    """Up to `counts` lists of each kind, in random order, with their candidates in random order."""
    lists: dict[str, list[Group]] = defaultdict(list)
    for kind, groups in kinds:
        for group in groups():
            if len(lists[kind]) >= counts[kind]:
                break
            own = usable(group, guard)
            if own is not None:
                candidates = draw.sample(own.candidates, len(own.candidates))
                lists[kind].append(Group(own.question, tuple(candidates), f"{kind}-{len(lists[kind])}"))
        print(f"  {kind}: {len(lists[kind])}", flush=True)
    every = [group for own in lists.values() for group in own]
    return draw.sample(every, len(every))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("dev", type=Path, help="what dev_sets.py wrote: it stays out")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--share", type=float, default=1.0, help="of the lists of each kind, for a quick try")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    draw, guard = random.Random(options.seed), Guard(options.data, options.dev)
    rest: list[Group] = []
    for name, kinds, counts in (
        ("passages", of_passages(options.data, draw), PASSAGE_LISTS),
        ("sentences", of_sentences(options.data, draw), SENTENCE_LISTS),
    ):
        print(name, flush=True)
        lists = taken(kinds, {kind: round(options.share * count) for kind, count in counts.items()}, guard, draw)
        kept = max(1, min(CALIBRATION // 2, len(lists) // 10))
        rest += lists[:kept]
        named = (Group(own.question, own.candidates, f"{name}-{own.id}") for own in lists[kept:])
        print(f"  {write_jsonl(named, options.out / f'{name}.jsonl')} lists", flush=True)
    write_jsonl(
        (Group(own.question, own.candidates, f"{n}") for n, own in enumerate(rest)), options.out / "calibration.jsonl"
    )


if __name__ == "__main__":
    main()
