"""Training objectives: point, pair, list and distillation losses, and the levels of hierarchical ranking."""
