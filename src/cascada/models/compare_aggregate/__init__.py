"""Compare-aggregate (Wang and Jiang, 2017; Bian et al., 2017), the backbone of hierarchical ranking."""
