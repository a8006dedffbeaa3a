"""Metrics for Prometheus: numbers only, never what users wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from cascada.ranking import Ranking

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


class Metrics:
    """The server's metrics, in a registry of their own: two servers in one process do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = self._counter("requests", "Answered requests.", "route", "status")
        self.seconds = self._histogram("request_seconds", "From the first byte in to the last out.", SECONDS, "route")
        self.stages = self._histogram("stage_seconds", "Time of a batch in a stage.", SECONDS, "stage", "exit")
        self.batches = self._histogram("batch_requests", "Requests per batch.", COUNTS)
        self.candidates = self._histogram("batch_candidates", "Candidates per batch.", COUNTS)
        self.dropped = self._counter("dropped_candidates", "Candidates dropped at an exit.", "stage", "exit")
        self.incomplete = self._counter("incomplete", "Rankings that a deadline stopped.")
        self.disconnected = self._counter("gone", "Clients that disconnected before their response.")
        self.flops = self._counter("flops", "Floating-point operations spent.")
        self.flops_saved = self._counter("flops_saved", "Floating-point operations saved by drops and deadlines.")
        self.cache_hits = self._counter("cache_hits", "Scores taken from the cache.")
        self.cache_misses = self._counter("cache_misses", "Scores computed although there is a cache.")

    def add_gauge(self, name: str, description: str, value: Callable[[], float]) -> None:
        """Add a gauge whose value is computed when Prometheus asks for it."""
        Gauge(f"cascada_{name}", description, registry=self.registry).set_function(value)

    def record_batch(self, rankings: Sequence[Ranking], *, has_cache: bool = False) -> None:
        """Record the size, time and cost of a batch."""
        if has_cache:
            every = [cost for ranking in rankings for cost in ranking.stages]
            self.cache_hits.inc(sum(cost.cached for cost in every))
            self.cache_misses.inc(sum(cost.texts - cost.cached for cost in every))
        self.batches.observe(len(rankings))
        self.candidates.observe(sum(ranking.stages[0].candidates for ranking in rankings))
        for stage, costs in enumerate(zip(*(ranking.stages for ranking in rankings), strict=True)):
            if any(cost.candidates for cost in costs):
                seconds = sum(cost.seconds for cost in costs)
                self.stages.labels(stage, costs[0].exit).observe(seconds)
        for ranking in rankings:
            self._record_cost(ranking)

    def text(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self.registry)

    def _record_cost(self, ranking: Ranking) -> None:
        self.incomplete.inc(not ranking.complete)
        self.flops.inc(ranking.flops)
        self.flops_saved.inc(max(ranking.full_flops - ranking.flops, 0))
        for stage, (cost, following) in enumerate(zip(ranking.stages, ranking.stages[1:], strict=False)):
            if following.candidates:  # if a deadline stopped the next stage, the drop changed nothing
                self.dropped.labels(stage, cost.exit).inc(cost.candidates - following.candidates)

    def _counter(self, name: str, description: str, *labels: str) -> Counter:
        return Counter(f"cascada_{name}", description, labels, registry=self.registry)

    def _histogram(self, name: str, description: str, buckets: Sequence[float], *labels: str) -> Histogram:
        return Histogram(f"cascada_{name}", description, labels, buckets=buckets, registry=self.registry)
