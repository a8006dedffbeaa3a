"""BM25 over the candidates themselves: no training, no model, no torch."""
