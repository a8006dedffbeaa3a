"""Data sets known by name, and the files in which they are distributed, split by split."""

from __future__ import annotations

from pathlib import Path

from cascada.core.errors import CascadaError

THREE_SPLITS = ("train", "dev", "test")
TREC_SPLITS = ("train", "train-all", "dev", "test")


def _named(pattern: str, splits: tuple[str, ...] = THREE_SPLITS) -> dict[str, str]:
    return {split: pattern.format(split=split, SPLIT=split.upper()) for split in splits}


_TREC_2007 = _named("{split}-less-than-40.manual-edit.xml") | {"train-all": "train2393.cleanup.xml"}

CATALOG: dict[str, tuple[dict[str, str], ...]] = {
    "wikiqa": (_named("WikiQA-{split}.tsv"), _named("WikiQA-{split}.txt"), _named("{split}.tsv")),
    "trecqa": (
        _named("{split}.jsonl", TREC_SPLITS),
        _TREC_2007,
        _named("{split}.xml", TREC_SPLITS),
        _named("{SPLIT}.xml", TREC_SPLITS),
    ),
    "asnq": (_named("{split}.tsv"),),
    "qnli": (_named("{split}.tsv"),),
    "selqa": (_named("selqa-ass-{split}.json"),),
    "squad": (_named("{split}-v1.1.json"),),
    "squad_sentences": (_named("src-{split}.txt"),),
    "gpd": (_named("{split}.jsonl"),),
}
"""Name → its sets of file names, by split. Each file may also be gzipped (`.gz`)."""


def splits(name: str, root: str | Path) -> dict[str, Path]:
    """Split → file, for the splits of a known data set that a folder has.

    Of several sets of file names, the one with the most splits in the folder is used, the first of them if several have
    as many. So no data set is read partly in one form and partly in another, for example tokenised and not.
    """
    folder = Path(root)
    if not folder.is_dir():
        raise CascadaError(f"The folder {root} for the data set {name} does not exist.")
    return max((_present(folder, names) for names in CATALOG[name]), key=len)


def expected_files(name: str) -> str:
    """The file names to look for, as text for a message."""
    return ", or ".join(", ".join(names.values()) for names in CATALOG[name])


def split_or_default(source: str, split: str | None, default: str) -> str | None:
    """The split asked for, or `default` if the source is a data set with several splits; a file has none."""
    return default if split is None and (source in CATALOG or source.startswith("hf:")) else split


def _present(folder: Path, names: dict[str, str]) -> dict[str, Path]:
    candidates = {split: (folder / name, folder / f"{name}.gz") for split, name in names.items()}
    return {
        split: next(path for path in paths if path.is_file())
        for split, paths in candidates.items()
        if any(path.is_file() for path in paths)
    }
