"""The commands that robustness.py kills, and how the results of running them again are compared."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
COMMANDS = ("index", "encode", "export", "train")
CASCADA = [sys.executable, "-m", "cascada.cli.main"]
EXPORT = """
import sys
from pathlib import Path
from cascada.core.folder import BUNDLED_FOLDER
from cascada.systems.decoupled.folder import save
from cascada.systems.decoupled.unpack import unpacked
save(unpacked(BUNDLED_FOLDER), Path(sys.argv[1]), tokenizer=BUNDLED_FOLDER, card="")
"""


def killed(command: str, work: Path, kills: int, seed: int) -> Counter[str]:
    """Kill a command at random moments; after each kill, run it again and compare with an undisturbed run's result."""
    rng, counts = random.Random(f"{command} {seed}"), Counter[str]()
    work = work / f"kill-{command}"
    work.mkdir()
    arguments = prepared(command, work)
    started = time.monotonic()
    run(arguments, work)
    seconds, expected = time.monotonic() - started, digest(command, work)
    for _ in range(kills):
        seconds = kill_once(arguments, work, seconds, rng)
        done = subprocess.run(arguments, cwd=work, capture_output=True, text=True)
        if done.returncode:
            print(f"kill {command}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        same = done.returncode == 0 and digest(command, work) == expected
        counts["unharmed" if same else "fault" if done.returncode else "wrong"] += 1
    return counts


def kill_once(arguments: list[str], work: Path, seconds: float, rng: random.Random) -> float:
    """Kill a run that takes about this many seconds; return the seconds to assume for the next run.

    If a run ends before the kill, it does not count, and another is killed after a shorter time.
    """
    while True:
        shutil.rmtree(work / "out", ignore_errors=True)
        process = subprocess.Popen(arguments, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.2, 1.0) * seconds)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return seconds
        seconds *= 0.8


def run(arguments: list[str], work: Path) -> None:
    subprocess.run(arguments, cwd=work, check=True, capture_output=True)


def prepared(command: str, work: Path) -> list[str]:
    """Write what the command reads, and give its arguments; all write into `out`."""
    documents = work / "documents"
    if command in ("index", "encode"):
        documents.mkdir()
        for number, path in enumerate(sorted((REPOSITORY / "examples" / "documents").iterdir())):
            for copy in range(40 if command == "index" else 1):
                text = path.read_text(encoding="utf-8")
                (documents / f"{number}-{copy}.txt").write_text(f"Copy {copy}.\n\n{text}", encoding="utf-8")
        if command == "index":
            return [*CASCADA, "index", "documents", "out"]
        return [*CASCADA, "encode", "cascada-mini", "documents", "out"]
    if command == "export":
        run([sys.executable, "-c", EXPORT, "float"], work)
        return [*CASCADA, "export", "float", "out"]
    write_training(work)
    return [*CASCADA, "train", "recipe.yaml"]


def write_training(work: Path) -> None:
    """A recipe that trains a tiny network of word vectors in seconds, with a checkpoint at every second update."""
    rng = random.Random(0)
    words = [f"w{number}" for number in range(50)]
    (work / "vectors.txt").write_text(
        "".join(f"{word} {' '.join(f'{rng.gauss(0, 1):.4f}' for _ in range(16))}\n" for word in words)
    )
    for name, questions in (("train", 60), ("dev", 20)):
        lines = []
        for _ in range(questions):
            correct = rng.randrange(4)
            texts = [" ".join(rng.choices(words[1:], k=5)) + (" w0" if place == correct else "") for place in range(4)]
            labelled = [{"text": text, "label": int(place == correct)} for place, text in enumerate(texts)]
            lines.append(json.dumps({"question": " ".join(rng.sample(words, 3)), "candidates": labelled}))
        (work / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    (work / "recipe.yaml").write_text(
        "output: out\nmodel: {kind: compare-aggregate, levels: {point: []}, vectors: {source: vectors.txt}}\n"
        "train: {source: train.jsonl}\ndev: {source: dev.jsonl}\n"
        "training: {epochs: 3, batch: {by: questions, size: 4}, checkpoint_every: 2}\n"
    )


def digest(command: str, work: Path) -> str:
    """A digest of the command's result, of only those parts that are the same in every run."""
    if command in ("index", "encode"):
        from cascada.search import Index
        from cascada.store import Store, damaged_keys

        if command == "index":
            index = Index(work / "out")
            return json.dumps([len(index), sorted((name, record.passages) for name, record in index.files().items())])
        store = Store.open(work / "out")
        return f"{len(store)} {len(list(damaged_keys(store)))}"
    weights = ("model.safetensors", "weights.bin", "document.onnx", "question.onnx")
    paths = [work / "out" / name for name in weights if (work / "out" / name).exists()]
    return " ".join(hashlib.sha256(path.read_bytes()).hexdigest() for path in paths)


def write_documents(folder: Path) -> None:
    """One file of each type that `ask` reads."""
    sys.path.append(str(REPOSITORY / "tests" / "search"))
    from small_pdf import small_pdf

    folder.mkdir()
    text = (REPOSITORY / "examples" / "documents" / "oxygen.txt").read_text(encoding="utf-8")[:4000]
    (folder / "a.txt").write_text(text, encoding="utf-8")
    (folder / "b.md").write_text(f"# Oxygen\n\n{text}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", encoding="utf-8")
    page = f"<!DOCTYPE html><html><head><title>O</title></head><body><h1>Oxygen</h1><p>{text}</p></body></html>"
    (folder / "c.html").write_text(page, encoding="utf-8")
    (folder / "d.pdf").write_bytes(small_pdf(["Oxygen is a gas.", "It was found twice."], ["The second page."]))
    lines = [json.dumps({"id": str(number), "text": part}) for number, part in enumerate(text.split(". "))]
    (folder / "e.jsonl").write_text(os.linesep.join(lines), encoding="utf-8")
