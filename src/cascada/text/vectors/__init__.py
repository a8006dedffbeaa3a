"""Pre-trained word vectors, from the layouts they are given away in."""

from cascada.text.vectors.read import vectors_for

__all__ = ["vectors_for"]
