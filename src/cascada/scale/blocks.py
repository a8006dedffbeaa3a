"""Parts of a result as files beside it. A part's name says what it was made from, so that none is made twice, and none
is taken for another."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from hashlib import blake2b

from cascada.scale.files import appearing, here


def block_url(out: str, number: int, marks: Iterable[str], ending: str) -> str:
    """Where the part with this number of the result `out` is, given digests of all that it depends on."""
    mark = blake2b("\n".join(marks).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{out}.blocks/{number:06d}-{mark}.{ending}"


def join(blocks: Iterable[str], out: str) -> None:
    """The parts one after another, as one file that appears whole."""
    with appearing(out) as made, open(made, "wb") as joined:
        for block in blocks:
            with here(block) as path, open(path, "rb") as part:
                shutil.copyfileobj(part, joined)
