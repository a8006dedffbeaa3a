"""Natural Questions → ASNQ, a worker for each file; the same output as on one machine, in the order of the files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cascada.core.errors import DataError
from cascada.core.files import atomic_write
from cascada.data.group import Candidate
from cascada.data.natural_questions import Conversion, Skipped, outcomes
from cascada.data.natural_questions.convert import KEPT_PROBLEMS, AsnqFile, add_outcomes
from cascada.scale.cluster import each
from cascada.scale.files import absolute, appearing, block_url, exists, here, state_of

Numbered = tuple[int, str]


def convert(files: Sequence[str], out: str, *, advance: Callable[[int], object] | None = None) -> Conversion:
    """Convert the files into `out`, a .tsv or .tsv.gz. What each file became is kept in `out`.blocks: called again, it
    converts those that are new or have changed. `advance` hears of files.
    """
    out = absolute(out)
    blocks: dict[int, str] = {}
    for number, block in each(partial(convert_file, out), enumerate(map(absolute, files))):
        blocks[number] = block
        if advance:
            advance(1)
    with appearing(out) as path, atomic_write(path) as file:
        done = _joined([blocks[number] for number in sorted(blocks)], AsnqFile(file))
        done.check(out)
    return done


def convert_file(out: str, numbered: Numbered) -> tuple[int, str]:
    """Convert one file, unless that was done before; where the result is. What was left out stands beside it, written
    last: it is there when all is.
    """
    number, url = numbered
    block = block_url(out, number, [url, state_of(url)], "tsv")
    if not exists(_beside(block)):
        with here(url) as path, appearing(block) as target, atomic_write(target) as file:
            done = add_outcomes(outcomes([path]), AsnqFile(file))
        with appearing(_beside(block)) as target:
            target.write_text(json.dumps(_as_dict(done, str(path), url)), encoding="utf-8")
    return number, block


def _joined(blocks: Sequence[str], asnq: AsnqFile) -> Conversion:
    done = Conversion(asnq.counted)
    for block in blocks:
        with here(block) as path, open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                question, text, grade = line.removesuffix("\n").split("\t")
                asnq.add(question, Candidate(text, int(grade == "4"), grade=int(grade)))
        with here(_beside(block)) as path:
            _note(done, json.loads(path.read_text(encoding="utf-8")))
    return done


def _beside(block: str) -> str:
    return f"{block}.json"


def _as_dict(done: Conversion, path: str, url: str) -> dict[str, Any]:
    """Complaints name the file as the user does, not a copy of it."""
    problems = [str(problem).replace(path, url) for problem in done.first_problems]
    skipped = {reason.name: count for reason, count in done.skipped.items()}
    return {"skipped": skipped, "problems": done.problems, "first_problems": problems}


def _note(done: Conversion, part: dict[str, Any]) -> None:
    for name, count in part["skipped"].items():
        done.skipped[Skipped[name]] += count
    done.problems += part["problems"]
    done.first_problems += [DataError(one) for one in part["first_problems"]]
    del done.first_problems[KEPT_PROBLEMS:]
