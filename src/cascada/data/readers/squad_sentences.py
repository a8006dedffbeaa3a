"""SQuAD's answer sentences (`src-SPLIT.txt`) and questions (`tgt-SPLIT.txt`): parallel files, tokenised, in lower case.

Every group has one candidate, the sentence with the answer; negatives have to be mined. If there is a
`doclist-SPLIT.txt`, it lists the articles, and ids become `article/line`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cascada.core.errors import DataError
from cascada.data.group import Group
from cascada.data.lines import Source
from cascada.data.readers import parallel


def read(path: Source) -> Iterator[Group]:
    """Stream the groups of a file of sentences and the files of the same split next to it."""
    sentences = Path(path)
    if not sentences.name.startswith("src-"):
        raise DataError(
            f"{path}: expected the file of sentences, src-SPLIT.txt, with tgt-SPLIT.txt in the same folder."
        )
    questions, articles = _same_split(sentences, "tgt-"), _same_split(sentences, "doclist-")
    if questions is None:
        raise DataError(
            f"{path} needs the questions in the same folder, in {sentences.name.replace('src-', 'tgt-', 1)}."
        )
    return parallel.read(questions, sentences, articles=articles, tokenised=True)


def _same_split(sentences: Path, prefix: str) -> Path | None:
    """The file of the same split with another prefix, gzipped or not; None if there is none."""
    name = sentences.name.replace("src-", prefix, 1).removesuffix(".gz")
    paths = sentences.with_name(name), sentences.with_name(f"{name}.gz")
    return next((path for path in paths if path.is_file()), None)
