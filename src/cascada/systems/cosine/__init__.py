"""Cosine ranking: question and candidates are embedded separately by a pre-trained encoder and compared."""
