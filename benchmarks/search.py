"""Retrieval of the paragraph with the answer: recall of BM25 and TF-IDF on SQuAD's text, and the cost of the index.

    python benchmarks/search.py XQUAD_JSON SQUAD_SENTENCES WORK [--every 1]

XQUAD_JSON is a SQuAD v1.1 file with paragraphs and questions. SQUAD_SENTENCES is a folder in the layout of
`squad_sentences`, whose sentences, five to a paragraph, are the distractors. The text files, one per article, and the
index are written to WORK. "any" counts a paragraph as found if it contains the text of an answer (P@N in the DC-BERT
paper), "own" only if it also comes from the question's own paragraph. Times are CPU times, which depend little on other
work on the machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from itertools import groupby
from pathlib import Path

from cascada.data import load
from cascada.data.spans import read_paragraphs
from cascada.search import Index, MemoryRetriever, Passage, read_passages

CUTS = (1, 5, 10, 20, 80)
Asked = tuple[str, str, str, set[str]]
"""A question, the file and the text of its paragraph, and its answers."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("xquad", type=Path)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--every", type=int, default=1, help="ask every N-th question only")
    options = parser.parse_args()
    documents = options.work / "documents"
    asked = write_articles(options.xquad, documents)[:: options.every]
    write_distractors(options.sentences, documents)
    results = indexed(documents, options.work / "index")
    engines = {
        "index, bm25": Index(options.work / "index"),
        "index, tfidf": Index(options.work / "index", scoring="tfidf"),
        "memory, bm25": MemoryRetriever(read_passages([documents])),
    }
    results["questions"] = len(asked)
    results["engines"] = {name: recall(engine, asked) for name, engine in engines.items()}
    print(json.dumps(results, indent=2))


def write_articles(path: Path, folder: Path) -> list[Asked]:
    asked: list[Asked] = []
    folder.mkdir(parents=True, exist_ok=True)
    for number, (_, members) in enumerate(groupby(read_paragraphs(path), key=lambda paragraph: paragraph.title)):
        file = folder / f"article-{number}.txt"
        paragraphs = list(members)
        contexts = [" ".join(paragraph.text.split()) for paragraph in paragraphs]
        file.write_text("\n\n".join(contexts), encoding="utf-8")
        for context, paragraph in zip(contexts, paragraphs, strict=True):
            for question in paragraph.questions:
                answers = {" ".join(answer.split()) for answer in question.answer_texts}
                asked.append((question.text, str(file.resolve()), context, answers))
    return asked


def write_distractors(root: Path, folder: Path) -> None:
    for split in ("dev", "test"):
        groups = load("squad_sentences", root=root, split=split)
        for number, (_, members) in enumerate(groupby(groups, key=lambda group: group.candidates[0].id.split("/")[0])):
            texts = list(dict.fromkeys(group.texts[0] for group in members))
            parts = [" ".join(texts[first : first + 5]) for first in range(0, len(texts), 5)]
            (folder / f"{split}-{number}.txt").write_text("\n\n".join(parts), encoding="utf-8")


def indexed(documents: Path, folder: Path) -> dict[str, object]:
    index = Index(folder, create=True)
    started = time.process_time()
    counts = index.update([documents])
    seconds = time.process_time() - started
    text = sum(file.stat().st_size for file in documents.iterdir())
    return {
        "files": counts.added + counts.unchanged,
        "passages": len(index),
        "text bytes": text,
        "index bytes": sum(file.stat().st_size for file in folder.iterdir()),
        "passages per CPU second": round(len(index) / seconds) if counts.added else None,
    }


def recall(engine: Index | MemoryRetriever, asked: list[Asked]) -> dict[str, object]:
    own, anywhere, times = [], [], []
    for question, document, context, answers in asked:
        started = time.process_time()
        passages = engine.retrieve(question, CUTS[-1])
        times.append(time.process_time() - started)
        has_answer = [any(answer in passage.text for answer in answers) for passage in passages]
        anywhere.append(has_answer)
        own.append(
            [has and is_own(passage, document, context) for has, passage in zip(has_answer, passages, strict=True)]
        )
    return {
        "own": {f"@{cut}": rate(own, cut) for cut in CUTS},
        "any": {f"@{cut}": rate(anywhere, cut) for cut in CUTS},
        "median CPU milliseconds": round(1000 * statistics.median(times), 2),
    }


def is_own(passage: Passage, document: str, context: str) -> bool:
    return str(Path(passage.document).resolve()) == document and passage.text in context


def rate(hits: list[list[bool]], cut: int) -> float:
    """Percentage of questions with a hit among the first `cut` passages."""
    return round(100 * sum(any(ranked[:cut]) for ranked in hits) / len(hits), 1)


if __name__ == "__main__":
    main()
