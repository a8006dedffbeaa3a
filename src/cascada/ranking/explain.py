"""A ranking explained in the terminal: which candidates were dropped at which exit, and their scores."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.bar import Bar
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from cascada.ranking.result import Item, Ranking, StageCost, on_one_line
from cascada.ranking.stage import START

SURVIVORS_SHOWN = 10
"""Candidates shown of those that reached the last exit."""

DROPPED_SHOWN = 3
"""Candidates shown of those dropped at each exit."""

SCORE, TEXT = 7, 24
"""Width of a score, and least width of a text, in columns of the terminal."""


class Explanation:
    """Prints with rich. Only the first candidates of each exit are shown, unless `show_all` is set."""

    def __init__(self, ranking: Ranking, *, show_all: bool = False) -> None:
        self.ranking = ranking
        self.show_all = show_all
        self.ran = [stage for stage in ranking.stages if stage.candidates]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(on_one_line(self.ranking.question), style="bold")
        yield Text(self._summary(), style="dim")
        yield Text()
        yield self._stages()
        yield Text()
        yield self._candidates(options.max_width)

    def _summary(self) -> str:
        ranking = self.ranking
        parts = [_counted(self.ran[0].candidates, "candidate"), f"relative cost {ranking.relative_cost:.3f}"]
        if ranking.full_flops:
            parts.append(f"{ranking.flops / 1e9:.2f} of {ranking.full_flops / 1e9:.2f} GFLOPs")
        parts.append(f"{ranking.seconds:.3f} s")
        return " · ".join(parts)

    def _stages(self) -> Table:
        """A bar for each exit: how many candidates reached it, and how many it dropped."""
        table = Table.grid(padding=(0, 2))
        for _ in ("exit", "bar"):
            table.add_column(no_wrap=True)
        for _ in ("in", "dropped", "seconds"):
            table.add_column(justify="right", no_wrap=True)
        for stage, following in zip(self.ran, [*self.ran[1:], None], strict=True):
            bar = Bar(self.ran[0].candidates, 0, stage.candidates, width=24, color="cyan")
            out = f"{stage.candidates - following.candidates} dropped" if following else ""
            table.add_row(_name(stage), bar, f"{stage.candidates} in", out, f"{stage.seconds:.3f} s")
        if not self.ranking.complete:
            stopped = self.ranking.stages[len(self.ran)]
            table.add_row(_name(stopped), Text("stopped by the deadline", style="yellow"))
        return table

    def _candidates(self, width: int) -> Table:
        """A row for each candidate in the final order, with its score at every exit it reached."""
        number = len(str(self.ran[0].candidates))
        room = width - 2 * (number + 1)  # for scores and text
        fit = min(len(self.ran), max(1, (room - TEXT) // (SCORE + 1)))
        table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
        table.add_column("", justify="right", width=number)
        for stage in self.ran[-fit:]:
            name = START if _name(stage) == START else f"at {stage.exit}"
            table.add_column(name.rjust(SCORE - 1), width=SCORE)
        table.add_column("#", justify="right", width=number)
        note = f"(the last {fit} of {len(self.ran)} exits)" if fit < len(self.ran) else ""
        table.add_column(note, no_wrap=True, width=max(1, room - fit * (SCORE + 1)))
        for row in self._rows(fit):
            table.add_row(*row)
        return table

    def _rows(self, fit: int) -> Iterator[list[Text]]:
        for reached, group in groupby(enumerate(self.ranking, 1), key=lambda row: len(row[1].scores)):
            rows = list(group)
            shown = rows[: self._most(len(rows), dropped=reached < len(self.ran))]
            yield from (self._row(place, item, fit) for place, item in shown)
            if len(shown) < len(rows):
                yield self._rest(fit, len(rows) - len(shown), reached)
        if len(self.ranking) < self.ran[0].candidates:
            yield self._rest(fit, self.ran[0].candidates - len(self.ranking), None)

    def _most(self, rows: int, dropped: bool) -> int:
        most = DROPPED_SHOWN if dropped else SURVIVORS_SHOWN
        return rows if self.show_all or rows == most + 1 else most  # a line for "1 more" takes the same space

    def _row(self, place: int, item: Item, fit: int) -> list[Text]:
        style = "bold green" if place == 1 else ""
        text = Text(on_one_line(item.text) + (" […]" if item.truncated else ""), style, overflow="ellipsis")
        cells = [self._score(item, stage) for stage in range(len(self.ran))]
        return [Text(str(place), style), *cells[-fit:], Text(str(item.index), "dim"), text]

    def _score(self, item: Item, stage: int) -> Text:
        """The score at an exit, marked if the candidate was dropped there."""
        if stage >= len(item.scores):
            return Text()
        score = round(item.scores[stage], 2) + 0.0  # no minus before a zero
        shown = f"{score:+.2f}" if abs(score) < 100 else f"{score:+.0f}"
        last = stage == len(item.scores) - 1
        if last and stage < len(self.ran) - 1:
            return Text(shown.rjust(SCORE - 1), "red") + Text("✗", "bold red")
        return Text(shown.rjust(SCORE - 1), "bold" if last else "")

    def _rest(self, fit: int, count: int, reached: int | None) -> list[Text]:
        if reached is None:
            why = ""
        elif reached < len(self.ran):
            why = f" dropped at {_name(self.ran[reached - 1])}"
        else:
            why = " reached the last exit" if self.ranking.complete else f" reached {_name(self.ran[-1])}"
        return [Text()] * (min(fit, len(self.ran)) + 2) + [Text(f"… {count} more{why}", "dim")]


def _name(stage: StageCost) -> str:
    """The exit of a stage. One without layers is exit 0 if it computes anything; BM25, which does not, is the start."""
    return f"layer {stage.exit}" if stage.exit else "exit 0" if stage.flops or stage.cached else START


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
