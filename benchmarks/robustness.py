"""Damage model folders, stores, indexes and documents, kill commands at random moments, and count the outcomes.

    python benchmarks/robustness.py [--trials 100] [--kills 10] [--seed 1] [--only model,hostile-model,…] [--json]

| part | what is tried |
|---|---|
| `model` | one file of a copy of the bundled model gets flipped bits, loses its end, is emptied or overwritten |
| `hostile-model` | the same, and absurd values in `cascada.json`, with a manifest that was made to fit |
| `store`, `index` | files of a store of encodings, and of an index, damaged in the same ways |
| `documents` | text, Markdown, HTML, PDF and JSONL files damaged in the same ways, beside one good file |
| `kill index`, `kill encode`, `kill export`, `kill train` | a command is killed at a random moment, and run again |

Every damaged thing is opened in a child process. It may be refused in a sentence, or work as if it were intact. Counted
as wrong is a result that differs from the intact one; as a fault, any other exception; as a crash, a child that died.
Damaged weights whose manifest was made to fit are simply another model.
A killed command that is run again must give the same result as an undisturbed run.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import robustness_kills
from robustness_child import TEXTS

from cascada.core.folder import BUNDLED_FOLDER
from cascada.core.manifest import write_manifest
from cascada.search import Index

REPOSITORY = Path(__file__).parents[1]
CHILD = Path(__file__).with_name("robustness_child.py")
ABSURD = [-1, 0, 10**9, 1.5, "abc", None, [], {}, True, [10**9], "\ud800", [0, 6, 6], [[]], "../../x", 2**70]
OUTCOMES = ("refused", "unharmed", "another model", "wrong", "fault", "crash")


class Child:
    """A child process that opens damaged folders; it is started again if it dies."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def open(self, kind: str, folder: Path) -> dict[str, Any]:
        if self.process is None or self.process.poll() is not None:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self.process = subprocess.Popen([sys.executable, str(CHILD)], text=True, **pipes)  # type: ignore[call-overload]
        assert self.process.stdin
        assert self.process.stdout
        try:
            self.process.stdin.write(json.dumps({"kind": kind, "folder": str(folder)}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return dict(json.loads(line)) if line else {"crash": self.process.wait()}

    def close(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def damage(path: Path, rng: random.Random) -> str:
    """Change a file as a failing disk, a broken copy or an attacker would; says how."""
    content = bytearray(path.read_bytes())
    how = rng.choice(["flip", "flip", "flip", "truncate", "empty", "overwrite", "insert"])
    if how == "flip" and content:
        for _ in range(rng.choice([1, 1, 4, 64])):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    elif how == "truncate":
        del content[rng.randrange(len(content) + 1) :]
    elif how == "empty":
        content.clear()
    elif how == "overwrite" and content:
        start = rng.randrange(len(content))
        content[start : start + 64] = rng.randbytes(64)
    else:
        content[rng.randrange(len(content) + 1) : 0] = rng.randbytes(rng.choice([1, 64, 4096]))
    path.unlink()  # it may be a link to the original
    path.write_bytes(content)
    return f"{how} {path.name}"


def linked_copy(source: Path, folder: Path) -> Path:
    """A copy whose files are links to the originals, until one is damaged."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, copy_function=lambda original, copy: Path(copy).hardlink_to(original))
    return folder


def damaged_copy(intact: Path, folder: Path, rng: random.Random, *, but: tuple[str, ...] = ()) -> str:
    linked_copy(intact, folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in but)
    return damage(rng.choice(files), rng)


def hostile_copy(intact: Path, folder: Path, rng: random.Random) -> str:
    """A damaged copy with a manifest made to fit: whoever can change a folder can change its manifest, too."""
    if rng.random() < 0.4:
        linked_copy(intact, folder)
        shape = json.loads((folder / "cascada.json").read_text())
        key, value = rng.choice(sorted(shape)), rng.choice(ABSURD)
        (folder / "cascada.json").unlink()
        (folder / "cascada.json").write_text(json.dumps(shape | {key: value}))
        how = f"{key} = {value!r}"
    else:
        how = damaged_copy(intact, folder, rng, but=("manifest.json", "README.md"))
    (folder / "manifest.json").unlink()
    write_manifest(folder)
    return how


def bad_documents(intact: Path, folder: Path, rng: random.Random) -> str:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "good.txt").write_text("The good file has one sentence.")
    original = rng.choice(sorted(intact.iterdir()))
    shutil.copy(original, folder / f"bad{original.suffix}")
    return damage(folder / f"bad{original.suffix}", rng)


def prepared(work: Path) -> dict[str, Path]:
    """One intact folder of each kind."""
    (work / "texts.txt").write_text("\n\n".join(TEXTS))
    command = [sys.executable, "-m", "cascada.cli.main", "encode", "cascada-mini", "texts.txt", "store"]
    subprocess.run([*command, "--units", "paragraphs"], cwd=work, check=True, capture_output=True)
    model = shutil.copytree(BUNDLED_FOLDER, work / "model")
    Index(work / "index", create=True).update([REPOSITORY / "examples" / "documents"])
    robustness_kills.write_documents(work / "documents")
    return {"model": model, "store": work / "store", "index": work / "index", "documents": work / "documents"}


def trials(part: str, intact: dict[str, Path], count: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """For each trial: the damage, the outcome, and the message or the result."""
    rng, child = random.Random(f"{part} {seed}"), Child()
    kind = part.removeprefix("hostile-")
    with tempfile.TemporaryDirectory(dir=intact[kind].parent) as folder:
        copy = Path(folder) / "copy"
        expected = None if kind == "documents" else child.open(kind, linked_copy(intact[kind], copy))
        make = {"hostile-model": hostile_copy, "documents": bad_documents}.get(part, damaged_copy)
        for _ in range(count):
            how = make(intact[kind], copy, rng)
            answer = child.open(kind, copy)
            outcome, said = next(iter(answer.items()))
            if outcome == "result":
                differs = "another model" if part == "hostile-model" else "wrong"
                outcome = "unharmed" if expected in (None, answer) else differs
            yield how, outcome, str(said)
    child.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100, help="damaged folders of each kind")
    parser.add_argument("--kills", type=int, default=10, help="kills of each command")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="parts, separated by commas")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    wanted = set(filter(None, options.only.split(",")))
    rows: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        intact = prepared(Path(folder))
        for part in ("model", "hostile-model", "store", "index", "documents"):
            if wanted and part not in wanted:
                continue
            rows[part] = Counter()
            for how, outcome, said in trials(part, intact, options.trials, options.seed):
                rows[part][outcome] += 1
                if outcome in ("wrong", "fault", "crash"):
                    print(f"{part}: {how}: {outcome}: {said}", file=sys.stderr)
        for command in robustness_kills.COMMANDS:
            if options.kills and (not wanted or f"kill {command}" in wanted):
                rows[f"kill {command}"] = robustness_kills.killed(command, Path(folder), options.kills, options.seed)
    if options.json:
        print(json.dumps({"seed": options.seed, "parts": rows}, indent=1))
        return
    print(f"| | tried | {' | '.join(OUTCOMES)} |\n|{'---|' * (2 + len(OUTCOMES))}")
    for part, counts in rows.items():
        print(f"| {part} | {counts.total()} | {' | '.join(str(counts[outcome]) for outcome in OUTCOMES)} |")


if __name__ == "__main__":
    main()
