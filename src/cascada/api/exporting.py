"""Export of a trained ranker for the CPU engine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from cascada.api.arguments import Data, LocalPath, OnProgress, count_pairs, load_data, read_texts, reporting
from cascada.core.errors import CascadaError, require, require_torch
from cascada.core.folder import SHAPE_FILE, read_shape

if TYPE_CHECKING:
    from cascada.systems.export import Agreement, Precision


@dataclass(frozen=True)
class Exported:
    """The result of `export`."""

    folder: Path
    bytes: int
    """The size of the folder."""
    agreement: Agreement | None = None
    """How the exported ranker compares with the trained one, if it was measured on data."""

    def to_dict(self) -> dict[str, Any]:
        """The result as `cascada export --json` prints it."""
        measured = self.agreement and {"MAP": self.agreement.exported, "trained_MAP": self.agreement.trained}
        return {"path": str(self.folder), "bytes": self.bytes, **(measured or {})}


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
    """Write the trained ranker in the folder `model` as graphs for ONNX Runtime into the folder `out`.

    The exported ranker needs no torch. With `data` (as for `evaluate`, by default its dev split), MAP is measured
    before and after: an export that loses more than `loss` is removed, and raises an error. `loss=None` keeps it in any
    case.

    With `texts`, a file or a list, the ranker gets an exit 0, which drops candidates before the first layer; its
    weights are the IDF of word pieces in the texts. A drop plan that was saved for the other exits is not exported.
    """
    if precision not in ("int8", "fp32"):
        raise CascadaError(f"precision is {precision!r}; it must be int8 or fp32.")
    require_torch("exporting")
    require("onnx", "train", "exporting")
    from cascada.systems import export as exporting

    folder, target = Path(model), Path(out)
    groups = None
    if data is not None:
        require("pytrec_eval", "eval", "measuring")
        groups, _ = load_data(data, root, split, "clean", default_split="dev")
    is_new = not target.exists()
    agreement = None
    with nullcontext(folder) if texts is None else _with_exit_zero(folder, texts) as trained:
        exporting.export(trained, target, precision)
        if groups is not None:
            with reporting(on_progress, "comparing", 2 * count_pairs(groups), "pairs") as advance:
                agreement = exporting.agreement(trained, target, groups, advance)
    problem = agreement and loss is not None and _problem(agreement, precision, loss, exporting.TOLERANCE)
    if problem:
        # A ranker without its shape file does not load; files that were in the folder before are kept.
        shutil.rmtree(target) if is_new else (target / SHAPE_FILE).unlink()
        raise CascadaError(f"Not exported: {problem}. Allow a larger loss (--loss), or keep it anyway (--force).")
    size = sum(path.stat().st_size for path in target.iterdir())
    return Exported(target, size, agreement)


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
        return f"MAP fell by {agreement.loss:.4f}, from {agreement.trained:.4f} to {agreement.exported:.4f}"
    return None
