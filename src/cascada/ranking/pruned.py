"""The result of pruning passages, as `Ranker.prune` returns it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from cascada.ranking.inputs import text_of
from cascada.ranking.result import TextOrMapping, on_one_line

NO_ANSWER = "Nothing here is likely to be an answer."


@dataclass(frozen=True, slots=True)
class PrunedSentence:
    """A sentence of a passage, kept or cut."""

    text: str
    start: int
    end: int
    """Character offsets into the passage: `passage[start:end] == text`."""
    score: float | None
    """In [0, 1]; None for what was not ranked: headings, editors' notes, the question itself."""
    kept: bool


@dataclass(frozen=True, slots=True)
class PrunedPassage:
    """A passage with all of its sentences, in order."""

    index: int
    """Its position in the list of passages that was passed."""
    sentences: tuple[PrunedSentence, ...]
    document: TextOrMapping = field(repr=False)
    """The passage as it was passed."""

    @property
    def kept(self) -> tuple[PrunedSentence, ...]:
        return tuple(sentence for sentence in self.sentences if sentence.kept)

    @property
    def cut(self) -> tuple[PrunedSentence, ...]:
        return tuple(sentence for sentence in self.sentences if not sentence.kept)

    @property
    def score(self) -> float:
        """The score of its best kept sentence; 0 if nothing was kept."""
        return max((sentence.score or 0.0 for sentence in self.kept), default=0.0)

    @property
    def share_cut(self) -> float:
        """The share of its sentences' characters that was cut; 0 if it has none."""
        return _share_cut(self.sentences)

    @property
    def text(self) -> str:
        """The kept sentences in one text: as they stand in the passage, with a space or a line break for what was cut
        between them."""
        if not self.kept:
            return ""
        source = text_of(self.document)
        parts = [self.kept[0].text]
        numbers = [number for number, sentence in enumerate(self.sentences) if sentence.kept]
        for before, after in pairwise(numbers):
            between = source[self.sentences[before].end : self.sentences[after].start]
            parts.append(between if after == before + 1 else "\n" if "\n" in between else " ")
            parts.append(self.sentences[after].text)
        return "".join(parts)

    def to_dict(self) -> dict[str, Any]:
        sentences = [asdict(sentence) for sentence in self.sentences]
        return {"index": self.index, "text": self.text, "share_cut": self.share_cut, "sentences": sentences}


@dataclass(frozen=True, slots=True)
class Pruned:
    """The passages of a question in the order they were passed, each without what does not help to answer."""

    question: str
    passages: tuple[PrunedPassage, ...]
    relative_cost: float
    """Layers run, relative to running every sentence to the last exit."""
    complete: bool = True
    """False if a deadline stopped the ranking before its last stage."""
    likely: bool | None = None
    """Whether the best sentence is probably an answer: its score is at least `min_score`, or 0.5 without one. None for
    rankers that only compare words, whose scores are no probabilities."""

    def __iter__(self) -> Iterator[PrunedPassage]:
        return iter(self.passages)

    def __len__(self) -> int:
        return len(self.passages)

    def __getitem__(self, place: int) -> PrunedPassage:
        return self.passages[place]

    @property
    def share_cut(self) -> float:
        """The share of all sentences' characters that was cut."""
        return _share_cut(sentence for passage in self for sentence in passage.sentences)

    def to_dict(self) -> dict[str, Any]:
        """What `cascada prune --json` prints."""
        keys = ("share_cut", "likely", "relative_cost", "complete")
        return {"passages": [passage.to_dict() for passage in self]} | {key: getattr(self, key) for key in keys}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(on_one_line(self.question), style="bold")
        if self.likely is False:
            yield Text(NO_ANSWER, style="yellow")
        shown = [passage for passage in self if passage.kept]
        for passage in shown:
            yield Text.assemble((f"{passage.index:>3} ", "dim"), (f"{passage.score:.3f}  ", "dim"), _marked(passage))
        empty = len(self) - len(shown)
        emptied = f"; nothing is left of {empty} of {len(self)} passages" if empty else ""
        yield Text(f"{self.share_cut:.0%} cut{emptied}.", style="dim")

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=120, force_terminal=False)
        with console.capture() as captured:
            console.print(self)
        return captured.get().rstrip()


def _share_cut(sentences: Any) -> float:
    cut = whole = 0
    for sentence in sentences:
        whole += sentence.end - sentence.start
        cut += 0 if sentence.kept else sentence.end - sentence.start
    return cut / whole if whole else 0.0


def _marked(passage: PrunedPassage) -> Text:
    """The kept sentences, with […] for each run of cut ones, the best in bold."""
    best = max(passage.kept, key=lambda sentence: sentence.score or 0.0)
    parts: list[Text] = []
    for sentence in passage.sentences:
        if sentence.kept:
            parts.append(Text(on_one_line(sentence.text), "bold green" if sentence is best else ""))
        elif not parts or parts[-1].plain != "[…]":
            parts.append(Text("[…]", "dim"))
    return Text(" ").join(parts)
