"""Natural Questions → ASNQ, one worker per file; the output is the same as on one machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cascada.core.errors import DataError
from cascada.core.files import atomic_write
from cascada.data.group import Candidate
from cascada.data.natural_questions import Conversion, Skipped, line_results
from cascada.data.natural_questions.convert import KEPT_PROBLEMS, AsnqFile, add_results
from cascada.scale.cluster import map_unordered
from cascada.scale.files import absolute, block_url, destination, exists, local_copy, version_of


def convert(files: Sequence[str], out: str, *, advance: Callable[[int], object] | None = None) -> Conversion:
    """Convert the files into `out`, a .tsv or .tsv.gz.

    The result of each file is kept in the folder `out`.blocks: called again, `convert` converts new and changed files.
    `advance` is called with 1 for every file.
    """
    out = absolute(out)
    blocks: dict[int, str] = {}
    for number, block in map_unordered(partial(convert_file, out), enumerate(map(absolute, files))):
        blocks[number] = block
        if advance:
            advance(1)
    with destination(out) as path, atomic_write(path) as file:
        conversion = _joined([blocks[number] for number in sorted(blocks)], AsnqFile(file))
        conversion.check(out)
    return conversion


def convert_file(out: str, numbered: tuple[int, str]) -> tuple[int, str]:
    """Convert one file, unless that was done before; return its number and the URL of the block.

    The block's report of skipped lines is written last: if it is there, the block is complete.
    """
    number, url = numbered
    block = block_url(out, number, [url, version_of(url)], "tsv")
    if not exists(_report_url(block)):
        with local_copy(url) as path, destination(block) as target, atomic_write(target) as file:
            conversion = add_results(line_results([path]), AsnqFile(file))
        with destination(_report_url(block)) as target, atomic_write(target) as file:
            json.dump(_report(conversion, str(path), url), file)
    return number, block


def _joined(blocks: Sequence[str], asnq: AsnqFile) -> Conversion:
    conversion = Conversion(asnq.counted)
    for block in blocks:
        with local_copy(block) as path, open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                question, text, grade = line.removesuffix("\n").split("\t")
                asnq.add(question, Candidate(text, int(grade == "4"), grade=int(grade)))
        with local_copy(_report_url(block)) as path:
            _add_report(conversion, json.loads(path.read_text(encoding="utf-8")))
    return conversion


def _report_url(block: str) -> str:
    return f"{block}.json"


def _report(conversion: Conversion, path: str, url: str) -> dict[str, Any]:
    """What was skipped. Problems name the file as the user does, not its local copy."""
    problems = [str(problem).replace(path, url) for problem in conversion.first_problems]
    skipped = {reason.name: count for reason, count in conversion.skipped.items()}
    return {"skipped": skipped, "problems": conversion.problems, "first_problems": problems}


def _add_report(conversion: Conversion, report: dict[str, Any]) -> None:
    for name, count in report["skipped"].items():
        conversion.skipped[Skipped[name]] += count
    conversion.problems += report["problems"]
    conversion.first_problems += [DataError(problem) for problem in report["first_problems"]]
    del conversion.first_problems[KEPT_PROBLEMS:]
