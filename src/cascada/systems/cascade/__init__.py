"""Monolithic and cascade transformers: one encoder, with exits between its layers at which candidates are dropped."""
