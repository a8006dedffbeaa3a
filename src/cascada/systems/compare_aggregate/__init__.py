"""Hierarchical ranking: a compare-aggregate network (Wang and Jiang, 2017; Bian et al., 2017) with point, pair and list
levels."""
