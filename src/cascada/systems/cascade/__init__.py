"""Monolithic and cascade transformers: one encoder, with exits between its layers where candidates leave."""
