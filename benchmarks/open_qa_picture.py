"""Plot Figure 2 of the DC-BERT paper, from rows that open_qa.py printed with --json:

python benchmarks/open_qa_picture.py open-qa.json figure-2.png "K=1" "K=2" "K=3"
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

CURVE = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
FIRST_STAGE = "first stage"


def draw(rows: list[dict[str, Any]], path: Path, quality: str | None = None) -> None:
    """Left: P@N over N. Right: quality and speed-up over K if models are named K=…, otherwise quality over speed-up."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    colours = {model: f"C{place}" for place, model in enumerate(dict.fromkeys(row["model"] for row in rows))}
    for row in rows:
        if row["drop"]:
            continue
        style = "--" if row["reranker"] == FIRST_STAGE else "o-"
        shares = [100 * row["P@N"][cut] for cut in CURVE]
        left.plot(CURVE, shares, style, ms=3, color=colours[row["model"]], label=row["reranker"])
    left.set(xlabel="documents kept, N", ylabel="P@N (%)", xscale="log")
    left.set_xticks(CURVE, [str(cut) for cut in CURVE])
    left.minorticks_off()
    left.legend(frameon=False, fontsize="small")
    quality = quality or ("EM" if "EM" in rows[0] else "MAP")
    layers = {int(match[1]): row for row in rows if (match := re.search(r"K\s?=\s?(\d+)", row["reranker"]))}
    if len(layers) > 1:
        draw_layers(right, layers, quality)
    else:
        draw_speeds(right, rows, quality, colours)
    figure.savefig(path, dpi=120)


def draw_layers(axes: Any, layers: dict[int, dict[str, Any]], quality: str) -> None:
    axes.plot(list(layers), [100 * row[quality] for row in layers.values()], "o-", color="C0")
    axes.set(xlabel="interaction layers, K")
    axes.set_xticks(list(layers))
    axes.set_ylabel(f"{quality} (%)", color="C0")
    speed = axes.twinx()
    speed.plot(list(layers), [row["speed-up"] for row in layers.values()], "s--", color="C1")
    speed.set_ylabel("speed-up", color="C1")


def draw_speeds(axes: Any, rows: list[dict[str, Any]], quality: str, colours: dict[str, str]) -> None:
    """One line per model, through its drop ratios."""
    for model, colour in colours.items():
        timed = [row for row in rows if row["model"] == model and row["speed-up"]]
        timed.sort(key=lambda row: row["speed-up"])
        axes.plot([row["speed-up"] for row in timed], [100 * row[quality] for row in timed], "o-", ms=4, color=colour)
        for row in timed:
            where = (row["speed-up"], 100 * row[quality])
            looks = {"fontsize": "small", "color": colour, "rotation": 45}
            axes.annotate(row["reranker"], where, (4, 4), textcoords="offset points", **looks)
    axes.margins(0.15, 0.2)
    axes.set(xlabel=f"speed-up over {rows[0]['reranker']}", ylabel=f"{quality} (%)", xscale="log")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("rerankers", nargs="*", help="rows besides the first and the last; by default all")
    parser.add_argument(
        "--quality", choices=("EM", "F1", "MAP"), help="the measure on the right; by default EM, if there is one"
    )
    options = parser.parse_args()
    rows = json.loads(options.results.read_text(encoding="utf-8"))["rows"]
    names = {row["reranker"] for row in rows}
    if unknown := set(options.rerankers) - names:
        parser.error(f"{options.results} has no row {', '.join(sorted(unknown))}: there are {', '.join(sorted(names))}")
    wanted = {rows[0]["reranker"], *options.rerankers, FIRST_STAGE} if options.rerankers else names
    draw(
        [row | {"P@N": by_number(row["P@N"])} for row in rows if row["reranker"] in wanted],
        options.picture,
        options.quality,
    )


def by_number(shares: dict[str, float]) -> dict[int, float]:
    """The shares with numbers as keys: JSON has only strings."""
    return {int(cut): share for cut, share in shares.items()}


if __name__ == "__main__":
    main()
