"""Decoupled rankers as stages: documents' encodings from a store, joined with the question's when it comes."""

from cascada.ranking.decoupled.documents import DocumentEncoder, Documents, EncodingMemory, EncodingStore
from cascada.ranking.decoupled.load import decoupled_ranker, document_encoder
from cascada.ranking.decoupled.stages import stages_of

__all__ = [
    "DocumentEncoder",
    "Documents",
    "EncodingMemory",
    "EncodingStore",
    "decoupled_ranker",
    "document_encoder",
    "stages_of",
]
