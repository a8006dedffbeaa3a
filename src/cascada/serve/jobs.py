"""One request in the queue, and which of them are computed together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cascada.errors import CascadaError
from cascada.ranking import Ranker, Ranking
from cascada.ranking.drop import Drop, Keep, Plan, plan_of
from cascada.ranking.inputs import Asked, text_of
from cascada.ranking.result import Document
from cascada.ranking.stage import NO_DEADLINE, Deadline
from cascada.serve.bodies import Cut

LETTERS_PER_TOKEN = 4

NEAR = 0.1
"""Requests share a batch, and with it the earliest deadline, if that takes no more than this share of their time."""


@dataclass(frozen=True, eq=False)
class Job:
    """A question with its candidates, and whoever waits for the ranking."""

    asked: Asked
    drop: Drop
    keep: Keep | None
    plan: Plan | Literal["fit"]
    deadline: Deadline
    tokens: int
    answer: asyncio.Future[Ranking]

    @property
    def waiting(self) -> bool:
        """False when the client went away: an answer that nobody awaits is cancelled."""
        return not self.answer.done()

    def goes_with(self, first: Job) -> bool:
        if self.plan != first.plan:
            return False
        if self.deadline is NO_DEADLINE or first.deadline is NO_DEADLINE:
            return self.deadline is first.deadline
        apart = abs(self.deadline.at - first.deadline.at)
        least, most = sorted((self.deadline.left, first.deadline.left))
        return most <= 0 or apart <= NEAR * least  # who is late anyway loses nothing in company


def job_for(ranker: Ranker, asked: Asked, cut: Cut, deadline: Deadline) -> Job:
    """What was asked for, checked: one request's mistake must not reach the others in its batch."""
    answer: asyncio.Future[Ranking] = asyncio.get_running_loop().create_future()
    return Job(asked, cut.drop, cut.keep, plan_for(ranker, cut, deadline), deadline, about_tokens(*asked), answer)


def about_tokens(question: str, candidates: Sequence[Document]) -> int:
    """How many a model will read, near enough: counting them is the model's work."""
    letters = sum(len(text_of(candidate)) + len(question) for candidate in candidates)
    return letters // LETTERS_PER_TOKEN + len(candidates)


def plan_for(ranker: Ranker, cut: Cut, deadline: Deadline) -> Plan | Literal["fit"]:
    """Who is dropped where; what is no plan is told here."""
    if cut.drop != "fit" or cut.keep is not None:
        return plan_of(cut.drop, cut.keep, len(ranker.stages), otherwise=ranker.plan)
    if deadline is NO_DEADLINE:
        raise CascadaError('drop is "fit", which chooses drops to meet deadline_ms, and none was given.')
    return "fit"


@dataclass(frozen=True)
class Patience(Deadline):
    """A batch's deadline: the earliest of its requests', and over at once when nobody waits any more."""

    jobs: Sequence[Job] = ()

    @classmethod
    def of(cls, jobs: Sequence[Job]) -> Patience:
        return cls(min(job.deadline.at for job in jobs), jobs)

    @property
    def left(self) -> float:
        return super().left if any(job.waiting for job in self.jobs) else -1.0
