"""SQuAD's answer sentences (`src-SPLIT.txt`) and questions (`tgt-SPLIT.txt`), tokenised, in lower case, line by line.

Every group has one candidate, the sentence with the answer: negatives are to be mined. `doclist-SPLIT.txt`, if it is
there, lists the articles, and ids become `article/line`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cascada.core.errors import DataError
from cascada.data.group import Group
from cascada.data.lines import Source
from cascada.data.readers import parallel


def read(path: Source) -> Iterator[Group]:
    sentences = Path(path)
    if not sentences.name.startswith("src-"):
        raise DataError(f"{path}: expected the file of sentences, src-SPLIT.txt, with tgt-SPLIT.txt beside it.")
    questions, articles = _beside(sentences, "tgt-"), _beside(sentences, "doclist-")
    if questions is None:
        raise DataError(f"{path} needs the questions beside it, in {sentences.name.replace('src-', 'tgt-', 1)}.")
    return parallel.read(questions, sentences, articles=articles, tokenised=True)


def _beside(sentences: Path, prefix: str) -> Path | None:
    """The file of the same split, packed or not."""
    name = sentences.name.replace("src-", prefix, 1).removesuffix(".gz")
    return next(
        (path for path in (sentences.with_name(name), sentences.with_name(f"{name}.gz")) if path.is_file()), None
    )
