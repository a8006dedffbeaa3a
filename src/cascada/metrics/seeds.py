"""One number for a model trained several times: the mean over seeds, and how far they spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from cascada.errors import CascadaError


@dataclass(frozen=True, slots=True)
class Spread:
    """A measure over several seeds."""

    mean: float
    std: float | None
    """The sample standard deviation (divided by seeds − 1); None for one seed."""
    seeds: int

    def __str__(self) -> str:
        return f"{self.mean:.4f}" if self.std is None else f"{self.mean:.4f} ± {self.std:.4f}"


def over_seeds(means: Sequence[Mapping[str, float]]) -> dict[str, Spread]:
    """Measure → mean and standard deviation, from one `Evaluation.mean` per seed.

    >>> str(over_seeds([{"MAP": 0.70}, {"MAP": 0.74}])["MAP"])
    '0.7200 ± 0.0283'
    """
    if not means:
        raise CascadaError("There are no seeds to average over: give the means of at least one.")
    for number, mean in enumerate(means, start=1):
        if mean.keys() != means[0].keys():
            raise CascadaError(
                f"Seed {number} was measured by {', '.join(mean) or 'nothing'} and the first by "
                f"{', '.join(means[0]) or 'nothing'}: measure all seeds by the same."
            )
    return {name: _spread([mean[name] for mean in means]) for name in means[0]}


def _spread(values: list[float]) -> Spread:
    return Spread(fmean(values), stdev(values) if len(values) > 1 else None, len(values))
