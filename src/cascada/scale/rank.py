"""Rank a data set of any size, block by block, into one TREC run, and measure it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from cascada.data import Group, Run, qrels, read_run, write_run
from cascada.data.group import data_digest
from cascada.metrics import Evaluation, evaluate
from cascada.ranking import Ranker
from cascada.ranking.inputs import PAIRS_AT_ONCE, RankOptions
from cascada.ranking.runs import run_of
from cascada.scale.cluster import map_unordered
from cascada.scale.files import absolute, block_url, concatenate, destination, exists, local_copy
from cascada.scale.models import load_once

PAIRS = 8 * PAIRS_AT_ONCE
"""Pairs per block, at least."""


@dataclass(frozen=True)
class RankingJob:
    """What all blocks of a run have in common."""

    load: Callable[[], Ranker]
    """Loads the ranker in a worker; must be picklable."""
    model: str
    """Identifies all that the scores depend on besides the data, such as `cascada.systems.load.model_digest`."""
    options: RankOptions = field(default_factory=RankOptions)
    measures: tuple[str, ...] = ()
    """What to measure; nothing by default."""
    cpus: float = 1
    """Cores per block."""


@dataclass(frozen=True)
class Block:
    """A part of the data that one task ranks."""

    number: int
    groups: list[Group]


@dataclass
class Ranked:
    """The result of one block, or of all of them."""

    url: str
    pairs: int
    added: int
    """Pairs that were ranked now; the others were ranked before."""
    evaluation: Evaluation | None = None


def rank(
    job: RankingJob,
    groups: Iterable[Group],
    out: str,
    *,
    pairs: int = PAIRS,
    advance: Callable[[int], object] | None = None,
) -> Ranked:
    """Rank all groups, which must have ids, into the TREC run `out`: questions in their order, candidates by score.

    Blocks of at least `pairs` pairs are kept as files in the folder `out`.blocks: called again, `rank` ranks only new
    blocks, such as those after a change in the data. `advance` is called with each block's number of pairs.
    """
    out = absolute(out)
    ranked: list[Ranked] = []
    for block in map_unordered(partial(rank_block, job, out), blocks_of(groups, pairs), cpus=job.cpus):
        ranked.append(block)
        if advance:
            advance(block.pairs)
    ranked.sort(key=lambda block: block.url)  # which begins with the block's number
    concatenate((block.url for block in ranked if block.pairs), out)
    evaluations = [block.evaluation for block in ranked if block.evaluation]
    total_pairs, total_added = sum(block.pairs for block in ranked), sum(block.added for block in ranked)
    return Ranked(out, total_pairs, total_added, merged(evaluations))


def blocks_of(groups: Iterable[Group], pairs: int = PAIRS) -> Iterator[Block]:
    """Divide groups into blocks of at least `pairs` pairs; the last may be smaller.

    Blocks are cut only where `Ranker.rank_many` begins a new batch. So batches are the same as without blocks, and
    scores are equal to the last bit.
    """
    number, held, batch = 0, 0, 0
    block: list[Group] = []
    for group in groups:
        if held >= pairs and batch == 0 and group.candidates:  # groups without candidates go with the one before
            yield Block(number, block)
            number, held, block = number + 1, 0, []
        block.append(group)
        held += len(group.candidates)
        batch += len(group.candidates)
        batch = 0 if batch >= PAIRS_AT_ONCE else batch
    if block:
        yield Block(number, block)


def rank_block(job: RankingJob, out: str, block: Block) -> Ranked:
    """Rank one block, unless that was done before."""
    drops = f"{job.options.drop} {job.options.keep}"
    url = block_url(out, block.number, [job.model, drops, data_digest(block.groups)], "trec")
    pairs = sum(len(group.candidates) for group in block.groups)
    new = pairs > 0 and not exists(url)
    run: Run = {}
    if new:
        ranker = load_once(job.load, cpus=job.cpus)
        run = run_of(ranker, block.groups, job.options)
        with destination(url) as path:
            write_run(run, path)  # atomically
    elif pairs and job.measures:
        with local_copy(url) as path:
            run = read_run(path)
    evaluation = evaluate(run, qrels(block.groups), job.measures) if job.measures else None
    return Ranked(url, pairs, pairs if new else 0, evaluation)


def merged(parts: Sequence[Evaluation]) -> Evaluation | None:
    """The evaluation of all questions, from evaluations of parts of them."""
    if not parts:
        return None
    names = parts[0].by_question
    return Evaluation({name: {k: v for part in parts for k, v in part.by_question[name].items()} for name in names})
