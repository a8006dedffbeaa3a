"""Compare-aggregate (Wang and Jiang, 2017; Bian et al., 2017), the backbone of hierarchical ranking."""

from cascada.models.compare_aggregate.network import CompareAggregate
from cascada.models.compare_aggregate.shape import CompareAggregateShape

__all__ = ["CompareAggregate", "CompareAggregateShape"]
