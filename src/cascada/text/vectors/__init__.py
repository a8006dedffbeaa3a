"""Pre-trained word vectors, in the file formats they are published in."""

from cascada.text.vectors.lookup import vectors_for

__all__ = ["vectors_for"]
