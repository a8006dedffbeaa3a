"""Rankers that encode question and document apart, so that documents can be encoded once (DC-BERT, 2020)."""

from cascada.models.decoupled.network import DecoupledRanker
from cascada.models.decoupled.shape import DecoupledShape

__all__ = ["DecoupledRanker", "DecoupledShape"]
