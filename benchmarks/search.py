"""Finding the paragraph with the answer: recall of BM25 and TF-IDF over SQuAD's text, and what the index costs.

    python benchmarks/search.py XQUAD_JSON SQUAD_SENTENCES WORK [--every 1]

XQUAD_JSON is a SQuAD v1.1 file whose paragraphs and questions are used; SQUAD_SENTENCES a folder in the layout of
`squad_sentences`, whose sentences, five to a paragraph, are the distractors. WORK gets the text files, one an article,
and the index. A paragraph counts as found if it holds one of the question's answers and comes from the question's own
paragraph ("own"), or if it holds the answer's text, wherever it is from ("any", the DC-BERT paper's P@N). Times are of
the processor, which depend little on what else a machine is doing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from itertools import groupby
from pathlib import Path

from cascada.data import load
from cascada.data.check import json_file
from cascada.search import Index, MemoryRetriever, Passage, read_passages

CUTS = (1, 5, 10, 20, 80)
Asked = tuple[str, str, str, set[str]]
"""A question, the document and the text of its paragraph, and its answers."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("xquad", type=Path)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--every", type=int, default=1, help="ask every so-many-th question only")
    options = parser.parse_args()
    documents = options.work / "documents"
    asked = write_articles(options.xquad, documents)[:: options.every]
    write_distractors(options.sentences, documents)
    found = indexed(documents, options.work / "index")
    engines = {
        "index, bm25": Index(options.work / "index"),
        "index, tfidf": Index(options.work / "index", scoring="tfidf"),
        "memory, bm25": MemoryRetriever(read_passages([documents])),
    }
    found["questions"] = len(asked)
    found["engines"] = {name: recall(engine, asked) for name, engine in engines.items()}
    print(json.dumps(found, indent=2))


def write_articles(path: Path, folder: Path) -> list[Asked]:
    asked: list[Asked] = []
    folder.mkdir(parents=True, exist_ok=True)
    for number, article in enumerate(json_file(path)["data"]):
        file = folder / f"article-{number}.txt"
        contexts = [" ".join(one["context"].split()) for one in article["paragraphs"]]
        file.write_text("\n\n".join(contexts), encoding="utf-8")
        for context, paragraph in zip(contexts, article["paragraphs"], strict=True):
            for one in paragraph["qas"]:
                answers = {" ".join(answer["text"].split()) for answer in one["answers"]}
                asked.append((one["question"], str(file.resolve()), context, answers))
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
    done = index.update([documents])
    seconds = time.process_time() - started
    text = sum(file.stat().st_size for file in documents.iterdir())
    return {
        "files": done.added + done.unchanged,
        "passages": len(index),
        "text bytes": text,
        "index bytes": sum(file.stat().st_size for file in folder.iterdir()),
        "passages a processor second": round(len(index) / seconds) if done.added else None,
    }


def recall(engine: Index | MemoryRetriever, asked: list[Asked]) -> dict[str, object]:
    own, anywhere, times = [], [], []
    for question, document, context, answers in asked:
        started = time.process_time()
        passages = engine.retrieve(question, CUTS[-1])
        times.append(time.process_time() - started)
        having = [any(answer in one.text for answer in answers) for one in passages]
        anywhere.append(having)
        own.append([has and is_own(one, document, context) for has, one in zip(having, passages, strict=True)])
    return {
        "own": {f"@{cut}": rate(own, cut) for cut in CUTS},
        "any": {f"@{cut}": rate(anywhere, cut) for cut in CUTS},
        "median processor milliseconds": round(1000 * statistics.median(times), 2),
    }


def is_own(passage: Passage, document: str, context: str) -> bool:
    return str(Path(passage.document).resolve()) == document and passage.text in context


def rate(found: list[list[bool]], cut: int) -> float:
    return round(100 * sum(any(one[:cut]) for one in found) / len(found), 1)


if __name__ == "__main__":
    main()
