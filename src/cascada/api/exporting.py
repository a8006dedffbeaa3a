"""Export of a trained ranker or reader for the CPU engine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from cascada.api.arguments import (
    Data,
    LocalPath,
    OnProgress,
    count_pairs,
    load_data,
    read_texts,
    reader_questions,
    reporting,
)
from cascada.core.errors import CascadaError, require, require_torch
from cascada.core.folder import READER, SHAPE_FILE, kind_of, read_shape

if TYPE_CHECKING:
    from cascada.systems.export import Agreement, Precision


@dataclass(frozen=True)
class Exported:
    """The result of `export`."""

    folder: Path
    bytes: int
    """The size of the folder."""
    agreement: Agreement | None = None
    """How the exported model compares with the trained one, if it was measured on data."""

    def to_dict(self) -> dict[str, Any]:
        """The result as `cascada export --json` prints it."""
        content: dict[str, Any] = {"path": str(self.folder), "bytes": self.bytes}
        if self.agreement:
            name = self.agreement.measure
            content |= {name: self.agreement.exported, f"trained_{name}": self.agreement.trained}
        return content


def export(
    model: LocalPath,
    out: LocalPath,
    *,
    precision: Precision = "int8",
    data: Data | None = None,
    root: LocalPath | None = None,
    split: str | None = None,
    loss: float | None = 0.005,
    texts: LocalPath | Sequence[str] | None = None,
    on_progress: OnProgress | None = None,
) -> Exported:
    """Write the trained ranker or reader in the folder `model` as graphs for ONNX Runtime into the folder `out`.

    What is exported needs no torch. With `data` (as for `evaluate`, by default its dev split), MAP is measured before
    and after: an export that loses more than `loss` is removed, and raises an error. `loss=None` keeps it in any case.
    For a reader, `data` is a file in SQuAD's layout, and F1 is measured.

    With `texts`, a file or a list, the ranker gets an exit 0, which drops candidates before the first layer; its
    weights are the IDF of word pieces in the texts. A drop plan that was saved for the other exits is not exported.
    """
    if precision not in ("int8", "fp32"):
        raise CascadaError(f"precision is {precision!r}; it must be int8 or fp32.")
    require_torch("exporting")
    require("onnx", "train", "exporting")
    from cascada.systems import export as exporting

    folder, target = Path(model), Path(out)
    if kind_of(folder) == READER:
        compare = _compare_readers(data, root, split, texts, on_progress)
    else:
        compare = _compare_rankers(data, root, split, on_progress)
    is_new = not target.exists()
    with nullcontext(folder) if texts is None else _with_exit_zero(folder, texts) as trained:
        exporting.export(trained, target, precision)
        agreement = compare and compare(trained, target)
    problem = agreement and loss is not None and _problem(agreement, precision, loss, exporting.TOLERANCE)
    if problem:
        # A ranker without its shape file does not load; files that were in the folder before are kept.
        shutil.rmtree(target) if is_new else (target / SHAPE_FILE).unlink()
        raise CascadaError(f"Not exported: {problem}. Allow a larger loss (--loss), or keep it anyway (--force).")
    size = sum(path.stat().st_size for path in target.iterdir())
    return Exported(target, size, agreement)


Compare = Callable[[Path, Path], "Agreement"]
"""Measures a trained model and its export, given their folders."""


def _compare_rankers(
    data: Data | None, root: LocalPath | None, split: str | None, on_progress: OnProgress | None
) -> Compare | None:
    """Read the data now, before anything is exported."""
    if data is None:
        return None
    require("pytrec_eval", "eval", "measuring")
    groups, _ = load_data(data, root, split, "clean", default_split="dev")

    def compare(trained: Path, exported: Path) -> Agreement:
        from cascada.systems.export import agreement

        with reporting(on_progress, "comparing", 2 * count_pairs(groups), "pairs") as advance:
            return agreement(trained, exported, groups, advance)

    return compare


def _compare_readers(
    data: Data | None,
    root: LocalPath | None,
    split: str | None,
    texts: LocalPath | Sequence[str] | None,
    on_progress: OnProgress | None,
) -> Compare | None:
    if texts is not None:
        raise CascadaError("texts are for exit 0 of a ranker; a reader has no exits.")
    if data is None:
        return None
    questions = reader_questions(data, root=root, split=split)

    def compare(trained: Path, exported: Path) -> Agreement:
        from cascada.reading.export import agreement

        with reporting(on_progress, "comparing", 2 * len(questions), "questions") as advance:
            return agreement(trained, exported, questions, advance)

    return compare


@contextmanager
def _with_exit_zero(folder: Path, texts: LocalPath | Sequence[str]) -> Iterator[Path]:
    """A temporary folder with the same ranker, and exit 0 in front of its other exits."""
    from cascada.systems.cut import cut

    with TemporaryDirectory() as temporary:
        copy = Path(temporary) / folder.name
        exits = dict.fromkeys((0, *read_shape(folder)["exits"]))
        cut(folder, tuple(exits), copy, texts=read_texts(texts) if isinstance(texts, (str, Path)) else texts)
        yield copy


def _problem(agreement: Agreement, precision: str, loss: float, tolerance: float) -> str | None:
    """Why an export is not kept, if there is a reason."""
    if precision == "fp32" and agreement.largest_difference > tolerance:
        return f"a score differs from torch's by {agreement.largest_difference:.2g}"
    if agreement.loss > loss:
        before, after = f"{agreement.trained:.4f}", f"{agreement.exported:.4f}"
        return f"{agreement.measure} fell by {agreement.loss:.4f}, from {before} to {after}"
    return None
