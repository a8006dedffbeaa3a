"""`cascada export MODEL OUT`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascada.cli.options import AsJson, Root, split_or
from cascada.core.errors import CascadaError, require

if TYPE_CHECKING:
    from cascada.data import Group
    from cascada.systems.export import Agreement


def export(
    model: Annotated[Path, typer.Argument(help="A trained ranker's folder.")],
    out: Annotated[Path, typer.Argument(help="The folder to write.")],
    precision: Annotated[str, typer.Option(help="int8 or fp32.")] = "int8",
    data: Annotated[str | None, typer.Option(help="A dev set to measure the change of MAP on.")] = None,
    root: Root = None,
    split: Annotated[str | None, typer.Option(help="train, dev, test …; dev if not given.")] = None,
    loss: Annotated[float, typer.Option(min=0, help="The largest loss of MAP that is let through.")] = 0.005,
    force: Annotated[bool, typer.Option("--force", help="Keep it whatever it loses.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a trained ranker as stage graphs for the CPU engine, which needs no torch."""
    if precision not in ("int8", "fp32"):
        raise CascadaError(f"--precision takes int8 or fp32, not {precision!r}.")
    from cascada.core.errors import require_torch

    require_torch("exporting")
    require("onnx", "train", "exporting")
    from cascada.systems.export import export as write

    groups = _groups(data, root, split) if data else []  # a mistake in their name is told before the work
    new = not out.exists()
    write(model, out, precision)  # type: ignore[arg-type]
    found = _measured(model, out, groups) if data else None
    if found and not force:
        _refuse(found, precision, loss, out, new=new)
    _report(out, found, as_json)


def _groups(data: str, root: Path | None, split: str | None) -> list[Group]:
    require("pytrec_eval", "eval", "measuring")
    from cascada.data import load

    return load(data, root=root, split=split_or("dev", split, data), mode="clean")


def _measured(model: Path, out: Path, groups: Sequence[Group]) -> Agreement:
    from cascada.cli.progress import progress
    from cascada.systems.export import agreement

    with progress("comparing", total=2 * sum(len(group.candidates) for group in groups)) as advance:
        return agreement(model, out, groups, advance)


def _refuse(found: Agreement, precision: str, loss: float, out: Path, *, new: bool) -> None:
    """What ranks otherwise than it was trained to is not left behind."""
    from cascada.core.folder import SHAPE_FILE
    from cascada.systems.export import CLOSE

    if precision == "fp32" and found.largest_difference > CLOSE:
        problem = f"a score differs from torch's by {found.largest_difference:.2g}"
    elif found.loss > loss:
        problem = f"MAP fell by {found.loss:.4f}, from {found.trained:.4f} to {found.exported:.4f}"
    else:
        return
    if new:
        shutil.rmtree(out)
    else:
        (out / SHAPE_FILE).unlink()
    raise CascadaError(f"Not exported: {problem}; --loss sets how much may be lost, --force keeps it all the same.")


def _report(out: Path, found: Agreement | None, as_json: bool) -> None:
    size = sum(path.stat().st_size for path in out.iterdir())
    if as_json:
        more = {"MAP": found.exported, "trained_MAP": found.trained} if found else {}
        print(json.dumps({"path": str(out), "bytes": size, **more}))
        return
    change = f"MAP {found.trained:.4f} → {found.exported:.4f}" if found else "MAP not compared: give --data"
    print(f"{out}: {size / 1e6:.1f} MB, {change}")
