"""Find a data set by what the user calls it, and read its groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

from cascada.core.errors import CascadaError
from cascada.data.benchmark import Benchmark
from cascada.data.catalog import CATALOG, expected_files, splits
from cascada.data.group import Group, identified
from cascada.data.lines import Source
from cascada.data.readers import BENCHMARKS, READERS, Reader, hub
from cascada.data.sample import sample
from cascada.data.statistics import Mode, parse_mode, select
from cascada.data.trec import Qrels

_NEEDS_A_NAME = (".tsv", ".txt", ".xml", ".json")


def read(
    source: Source,
    *,
    root: Source | None = None,
    split: str | None = None,
    mode: Mode = "raw",
    first_stage: str | None = None,
    depth: int | None = None,
) -> Iterator[Group]:
    """Stream the groups of a data set.

    `source` is one of

    - a known name (`wikiqa`, `trecqa`, `asnq`, `qnli`, `selqa`, `squad`, `squad_sentences`, `gpd`), with its folder as
      `root` and a `split`;
    - a test collection (`beir`, `trec_dl`), with its folder as `root`, and the `first_stage` whose `depth` best
      candidates are wanted (see `Benchmark.groups`);
    - a path to our own JSONL, or to a `.csv`; `NAME:PATH` for a single file in a known layout;
    - `hf:ID` for a data set of the Hugging Face hub, with a `split`.

    `mode` is `raw`, `no-all-negative` or `clean`. Names are checked at once, the data while it is streamed.

        for group in read("wikiqa", root="data/WikiQA", split="test", mode="clean"):
            print(group.question, sum(group.labels))
    """
    return select(_opened(str(source), root, split, first_stage, depth), parse_mode(mode))


def load(
    source: Source,
    *,
    root: Source | None = None,
    split: str | None = None,
    mode: Mode = "raw",
    questions: int | None = None,
    seed: int = 0,
    first_stage: str | None = None,
    depth: int | None = None,
) -> list[Group]:
    """Load the groups of a data set, or a sample of this many `questions`, and fill in missing ids; see `read`.

    Ids are filled in before the mode drops questions, so that a question has the same id in every mode.
    """
    everything = identified(read(source, root=root, split=split, first_stage=first_stage, depth=depth))
    groups = list(sampled(select(everything, parse_mode(mode)), questions, seed))
    if not groups:
        raise CascadaError(f"{source}{f' {split}' if split else ''} has no questions in mode {mode}.")
    return groups


def sampled(groups: Iterable[Group], questions: int | None, seed: int = 0) -> Iterable[Group]:
    """All groups, or a seeded sample of this many `questions`, in the order of the data.

    Data sets are often ordered by article or by difficulty, so their first questions would not represent the rest. The
    sample depends only on the questions' texts and the seed: it is the same with and without ids, and in every process.
    """
    return groups if questions is None else sample(groups, questions, lambda group: group.question, seed=seed)


def open_benchmark(name: str, root: Source | None, split: str | None = None, qrels: Qrels | None = None) -> Benchmark:
    """The test collection of that name in a folder, with its own judgements or with `qrels`."""
    if root is None:
        raise CascadaError(f"The test collection {name} needs the folder it is in: give it as root (--root DIR).")
    if not Path(root).is_dir():
        raise CascadaError(f"The folder {root} for the test collection {name} does not exist.")
    return BENCHMARKS[name](Path(root), split, qrels)


def _opened(
    source: str, root: Source | None, split: str | None, first_stage: str | None, depth: int | None
) -> Iterator[Group]:
    if source in BENCHMARKS:
        return iter(open_benchmark(source, root, split).groups(first_stage, depth))
    if first_stage is not None or depth is not None:
        raise CascadaError(f"A first stage belongs to a test collection ({', '.join(BENCHMARKS)}), not to {source}.")
    if source.startswith("hf:"):
        return hub.read(source.removeprefix("hf:"), split)
    reader, path = _located(source, root, split)
    return reader(path)


def _located(source: str, root: Source | None, split: str | None) -> tuple[Reader, Path]:
    name, colon, rest = source.partition(":")
    if source in CATALOG:
        return READERS[source], _split_file(source, root, split)
    if not (colon and name in READERS) and not Path(source).exists() and not any(mark in source for mark in "/\\."):
        raise CascadaError(_unknown(name))
    if root is not None or split is not None:
        raise CascadaError(f"{source} is a file: a root and a split belong to a data set known by name.")
    if colon and name in READERS:
        return READERS[name], _file(Path(rest))
    return _reader_of(_file(Path(source))), Path(source)


def split_files(name: str, root: Source | None) -> dict[str, Path]:
    """Split → file, for a known data set in its folder; raise CascadaError if there is none."""
    if root is None:
        raise CascadaError(f"The data set {name} needs the folder it is in: give it as root (--root DIR).")
    files = splits(name, Path(root))
    if not files:
        raise CascadaError(f"{root} has none of the files of {name}: {expected_files(name)}.")
    return files


def _split_file(name: str, root: Source | None, split: str | None) -> Path:
    files = split_files(name, root)
    if split is None:
        raise CascadaError(f"The data set {name} needs a split (--split); {root} has {', '.join(files)}.")
    if split not in files:
        raise CascadaError(f"{root} has no split {split!r} of {name}; it has {', '.join(files)}.")
    return files[split]


def _file(path: Path) -> Path:
    if path.is_dir():
        known = ", ".join(CATALOG)
        raise CascadaError(f"{path} is a folder: give a file in it, or a known name ({known}) with the folder as root.")
    if not path.exists():
        raise CascadaError(f"There is no file {path}.")
    if not path.is_file():
        raise CascadaError(f"{path} is not a regular file: data may be read more than once, so it cannot be a pipe.")
    return path


def _reader_of(path: Path) -> Reader:
    """The reader for a path without a layout: our JSONL, or CSV. Other endings are shared by several layouts."""
    ending = Path(path.name.removesuffix(".gz")).suffix.lower()
    if ending in _NEEDS_A_NAME:
        raise CascadaError(f"Name the layout of {path.name}: NAME:{path}, with NAME one of {', '.join(READERS)}.")
    return READERS["csv" if ending == ".csv" else "jsonl"]


def _unknown(name: str) -> str:
    close = get_close_matches(name.lower(), (*READERS, *BENCHMARKS), n=1)
    guess = f" (did you mean {close[0]}?)" if close else ""
    known = f"known names are {', '.join((*CATALOG, *BENCHMARKS))}; otherwise give a path, NAME:PATH or hf:ID"
    return f"There is no data set {name!r}{guess}: {known}."
