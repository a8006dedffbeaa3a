"""A test collection: questions, documents and judgements, from which a first stage takes the candidates to rerank."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from cascada.core.errors import CascadaError
from cascada.data.group import Candidate, Group, identified
from cascada.data.relevance import judged
from cascada.data.trec import Qrels, Run, read_run
from cascada.text.bm25 import BM25Index

BM25 = "bm25"
DEPTH = 100
"""How many candidates of a first stage are reranked, unless the user says otherwise."""

Documents = Callable[[], Iterable[tuple[str, str]]]
"""Streams id and text of every document."""


@dataclass(frozen=True)
class Benchmark:
    """Questions with judgements, and where their candidates come from."""

    name: str
    root: Path
    qrels: Qrels
    relevant: int
    """The relevance from which a document counts as correct."""
    questions: Mapping[str, str] = field(default_factory=dict)
    """Question id → text; empty if there are only `lists`, which contain their questions."""
    documents: Documents | None = None
    """None if there are only `lists`."""
    lists: Mapping[str, Callable[[], Iterator[Group]]] = field(default_factory=dict)
    """First stage → its candidates with their texts, for collections that come with such lists."""

    def groups(self, first_stage: str | None, depth: int | None = None) -> list[Group]:
        """The judged questions, each with its first `depth` candidates, in the order of the first stage.

        `first_stage` is the name of a list, `bm25` (over all documents, in memory), or the path of a TREC run, also
        relative to the root. Without one, the candidates are those of the only list, or, if there is no list, the
        judged documents. Without a depth, lists are whole, and BM25 and runs have 100 candidates.
        """
        if depth is not None and depth < 1:
            raise CascadaError(f"The depth is {depth}; it must be a whole number from 1.")
        groups = (group for group in self._listed(first_stage, depth or DEPTH) if group.id in self.qrels)
        cut = (replace(group, candidates=group.candidates[:depth]) for group in groups)
        return judged(identified(cut), self.qrels, self.relevant)

    def _listed(self, first_stage: str | None, depth: int) -> Iterable[Group]:
        if first_stage is None and len(self.lists) == 1:
            return next(iter(self.lists.values()))()
        if first_stage in self.lists:
            return self.lists[str(first_stage)]()
        if first_stage is None and not self.lists:
            return self._of_run({question: dict.fromkeys(documents, 0.0) for question, documents in self.qrels.items()})
        if first_stage == BM25 and self.documents:
            return self._of_bm25(self.documents, depth)
        run = None if first_stage is None else self._run_file(first_stage)
        if run is None:
            raise CascadaError(self._no_such_stage(first_stage))
        return self._of_run(_top(read_run(run), depth + 1), depth)

    def _of_bm25(self, documents: Documents, depth: int) -> Iterator[Group]:
        """The best documents by BM25, without one that has the question's id: it is the question (ArguAna, Quora)."""
        texts = dict(documents())
        names = list(texts)
        index = BM25Index(texts.values())
        for identifier in self.qrels:
            question = self._question(identifier)
            best = (names[number] for number in index.best(question, depth + 1))
            others = [name for name in best if name != identifier][:depth]
            yield Group(question, tuple(Candidate(texts[name], id=name) for name in others), identifier)

    def _of_run(self, run: Run, depth: int | None = None) -> Iterator[Group]:
        """The documents of a run, in its order; only their texts are kept in memory."""
        if self.documents is None:
            raise CascadaError(f"{self.root} has no documents, only lists ({', '.join(self.lists)}): use one of them.")
        run = {question: documents for question, documents in run.items() if question in self.qrels}
        wanted = {document for documents in run.values() for document in documents}
        texts = {name: text for name, text in self.documents() if name in wanted}
        absent = next(((question, name) for question in run for name in run[question] if name not in texts), None)
        if absent:
            raise CascadaError(f"{self.root} has no document {absent[1]!r}, which is listed for question {absent[0]}.")
        for identifier, names in run.items():
            candidates = [Candidate(texts[name], id=name) for name in names if name != identifier]
            yield Group(self._question(identifier), tuple(candidates[:depth]), identifier)

    def _question(self, identifier: str) -> str:
        try:
            return self.questions[identifier]
        except KeyError:
            raise CascadaError(f"{self.root} has judgements of question {identifier}, but not its text.") from None

    def _run_file(self, first_stage: str) -> Path | None:
        paths = Path(first_stage), self.root / first_stage
        return next((path for path in paths if path.is_file()), None)

    def _no_such_stage(self, first_stage: str | None) -> str:
        known = [*self.lists, *([BM25] if self.documents and BM25 not in self.lists else [])]
        choice = " or ".join([*known, "a TREC run file"] if self.documents else known)
        if first_stage is None:
            return f"Say which first stage's candidates are to be ranked (--first-stage): {choice}."
        return f"There is no first stage {first_stage!r} for {self.root}: it is {choice}."


def _top(run: Run, depth: int) -> Run:
    """The documents with the highest scores, best first; ties by id, the greater first, as trec_eval breaks them."""
    ranked = {
        question: sorted(scores.items(), key=lambda item: item[::-1], reverse=True) for question, scores in run.items()
    }
    return {question: dict(scores[:depth]) for question, scores in ranked.items()}
