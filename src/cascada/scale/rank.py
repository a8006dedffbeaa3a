"""Group files of any size, ranked block by block into one TREC run, and measured on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from cascada.data import Group, Run, qrels, read_run, write_run
from cascada.data.group import data_digest
from cascada.metrics import Evaluation, evaluate
from cascada.ranking import Ranker
from cascada.ranking.inputs import PAIRS_AT_ONCE
from cascada.ranking.plan import Drop, Keep
from cascada.ranking.runs import run_of
from cascada.scale.cluster import each
from cascada.scale.files import absolute, appearing, block_url, exists, here, join
from cascada.scale.models import loaded

PAIRS = 8 * PAIRS_AT_ONCE
"""Pairs of a block, at least."""


@dataclass(frozen=True)
class Rankings:
    """What goes for all blocks of a run."""

    load: Callable[[], Ranker]
    model: str
    """A digest of what the scores depend on: `cascada.ranking.tuning.scores_file.model_digest`."""
    drop: Drop = None
    keep: Keep | None = None
    measures: tuple[str, ...] = ()
    """What to measure, if anything."""
    cpus: float = 1


@dataclass(frozen=True)
class Block:
    number: int
    groups: list[Group]


@dataclass
class Ranked:
    """What became of a block, or of all of them."""

    block: str
    pairs: int
    added: int
    """Pairs that were ranked now; the others were there already."""
    evaluation: Evaluation | None = None


def rank(
    rankings: Rankings,
    groups: Iterable[Group],
    out: str,
    *,
    pairs: int = PAIRS,
    advance: Callable[[int], object] | None = None,
) -> Ranked:
    """Rank all groups, which must have ids, into the TREC run `out`: questions in their order, candidates by score.

    The blocks are files in `out`.blocks, and stay there: called again, it ranks what has no block yet, such as the
    blocks after a change in the data. `pairs` is the size of a block. Labels are measured if `rankings` names measures.
    """
    out = absolute(out)
    done: dict[str, Ranked] = {}
    for block in each(partial(rank_block, rankings, out), blocks_of(groups, pairs), cpus=rankings.cpus):
        done[block.block] = block
        if advance:
            advance(block.pairs)
    blocks = [done[name] for name in sorted(done)]  # by number, with which a name begins
    join((block.block for block in blocks if block.pairs), out)
    measured = [block.evaluation for block in blocks if block.evaluation]
    return Ranked(out, sum(one.pairs for one in blocks), sum(one.added for one in blocks), together(measured))


def blocks_of(groups: Iterable[Group], pairs: int = PAIRS) -> Iterator[Block]:
    """Groups in order, cut where `Ranker.rank_many` begins a new batch: so that a block's batches are the very ones
    they are in a run without blocks, and scores the same to the last bit. A block has the `pairs`, unless it is the
    last.
    """
    number, held, batch = 0, 0, 0
    block: list[Group] = []
    for group in groups:
        if held >= pairs and batch == 0 and group.candidates:  # those without candidates go with the ones before
            yield Block(number, block)
            number, held, block = number + 1, 0, []
        block.append(group)
        held += len(group.candidates)
        batch += len(group.candidates)
        batch = 0 if batch >= PAIRS_AT_ONCE else batch
    if block:
        yield Block(number, block)


def rank_block(rankings: Rankings, out: str, block: Block) -> Ranked:
    """Rank one block, unless that was done before."""
    settings = f"{rankings.drop} {rankings.keep}"
    url = block_url(out, block.number, [rankings.model, settings, data_digest(block.groups)], "trec")
    pairs = sum(len(group.candidates) for group in block.groups)
    new = pairs > 0 and not exists(url)
    run: Run = {}
    if new:
        ranker = loaded(rankings.load, cpus=rankings.cpus)
        run = run_of(ranker, block.groups, drop=rankings.drop, keep=rankings.keep)
        with appearing(url) as path:
            write_run(run, path)
    elif pairs and rankings.measures:
        with here(url) as path:
            run = read_run(path)
    measured = evaluate(run, qrels(block.groups), rankings.measures) if rankings.measures else None
    return Ranked(url, pairs, pairs if new else 0, measured)


def together(parts: Sequence[Evaluation]) -> Evaluation | None:
    """Measures of parts of the questions as measures of all of them."""
    if not parts:
        return None
    names = parts[0].by_question
    return Evaluation({name: {k: v for part in parts for k, v in part.by_question[name].items()} for name in names})
