"""Cosine ranking: question and candidates embedded separately by an encoder as it comes, and compared."""
