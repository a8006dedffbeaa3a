"""One module per layout. Its `read(path)` streams groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cascada.data.group import Group
from cascada.data.lines import Source
from cascada.data.readers import asnq, csv, gpd, jsonl, qnli, selqa, squad, squad_sentences, trecqa, wikiqa

Reader = Callable[[Source], Iterator[Group]]

READERS: dict[str, Reader] = {
    "wikiqa": wikiqa.read,
    "trecqa": trecqa.read,
    "asnq": asnq.read,
    "qnli": qnli.read,
    "selqa": selqa.read,
    "squad": squad.read,
    "squad_sentences": squad_sentences.read,
    "gpd": gpd.read,
    "csv": csv.read,
    "jsonl": jsonl.read,
}
