"""A user's own cross-encoder, in the hub's layout: a ranker whose last exit is that model, unchanged."""
