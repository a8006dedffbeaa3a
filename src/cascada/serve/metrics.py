"""What Prometheus is told: numbers only, never what users wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from cascada.ranking import Ranking

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


class Metrics:
    """A registry of its own, so that two servers in one process do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = self._counter("requests", "Answered requests.", "route", "status")
        self.seconds = self._histogram("request_seconds", "From the first byte in to the last out.", SECONDS, "route")
        self.stages = self._histogram("stage_seconds", "A batch's time in a stage.", SECONDS, "stage", "exit")
        self.batches = self._histogram("batch_requests", "Requests computed together.", COUNTS)
        self.candidates = self._histogram("batch_candidates", "Candidates computed together.", COUNTS)
        self.dropped = self._counter("dropped_candidates", "Candidates that left at an exit.", "stage", "exit")
        self.incomplete = self._counter("incomplete", "Rankings that a deadline stopped.")
        self.gone = self._counter("gone", "Clients that left before their answer.")
        self.flops = self._counter("flops", "Floating-point operations spent.")
        self.saved = self._counter("flops_saved", "Operations that drops and deadlines saved.")

    def watch(self, name: str, about: str, value: Callable[[], float]) -> None:
        """A gauge that is looked at when it is asked for."""
        Gauge(f"cascada_{name}", about, registry=self.registry).set_function(value)

    def ranked(self, rankings: Sequence[Ranking]) -> None:
        """Take note of a batch."""
        self.batches.observe(len(rankings))
        self.candidates.observe(sum(ranking.stages[0].candidates for ranking in rankings))
        for stage, costs in enumerate(zip(*(ranking.stages for ranking in rankings), strict=True)):
            if any(cost.candidates for cost in costs):
                seconds = sum(cost.seconds for cost in costs)
                self.stages.labels(stage, costs[0].exit).observe(seconds)
        for ranking in rankings:
            self._spent(ranking)

    def text(self) -> bytes:
        return generate_latest(self.registry)

    def _spent(self, ranking: Ranking) -> None:
        self.incomplete.inc(not ranking.complete)
        self.flops.inc(ranking.flops)
        self.saved.inc(max(ranking.full_flops - ranking.flops, 0))
        for stage, (cost, after) in enumerate(zip(ranking.stages, ranking.stages[1:], strict=False)):
            if after.candidates:  # if a deadline stopped the next stage, being dropped made no difference
                self.dropped.labels(stage, cost.exit).inc(cost.candidates - after.candidates)

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"cascada_{name}", about, labels, registry=self.registry)

    def _histogram(self, name: str, about: str, buckets: Sequence[float], *labels: str) -> Histogram:
        return Histogram(f"cascada_{name}", about, labels, buckets=buckets, registry=self.registry)
