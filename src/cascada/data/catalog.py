"""The data sets known by name: which files a folder holds for them, split by split."""

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
"""For each name, the sets of file names it is distributed under. A file may also stand there as `.gz`."""


def splits(name: str, root: str | Path) -> dict[str, Path]:
    """The splits of a known data set that a folder holds.

    Of several sets of file names, the one that has most splits there is taken (the first, if several do): so one
    data set is never read half in one form, half in another, say tokenised and not.
    """
    folder = Path(root)
    if not folder.is_dir():
        raise CascadaError(f"The folder {root} for the data set {name} does not exist.")
    return max((_present(folder, names) for names in CATALOG[name]), key=len)


def expected_files(name: str) -> str:
    """For a message: what the folder might hold."""
    return ", or ".join(", ".join(names.values()) for names in CATALOG[name])


def _present(folder: Path, names: dict[str, str]) -> dict[str, Path]:
    candidates = {split: (folder / name, folder / f"{name}.gz") for split, name in names.items()}
    return {
        split: next(path for path in paths if path.is_file())
        for split, paths in candidates.items()
        if any(path.is_file() for path in paths)
    }
