"""Cascada picks the answer out of hundreds of candidate sentences, in a fraction of the compute."""

__version__ = "0.1.0"
