"""Search: documents in, the sentences that answer a question out."""

from cascada.search.answers import Answer, Answers, ShortAnswer
from cascada.search.asker import Asker
from cascada.search.documents import read_passages
from cascada.search.formats import read
from cascada.search.index import Index, Update
from cascada.search.passages import Document, Passage, passages
from cascada.search.retrievers import MemoryRetriever, Retriever
from cascada.search.sources import ask, retriever_of

__all__ = [
    "Answer",
    "Answers",
    "Asker",
    "Document",
    "Index",
    "MemoryRetriever",
    "Passage",
    "Retriever",
    "ShortAnswer",
    "Update",
    "ask",
    "passages",
    "read",
    "read_passages",
    "retriever_of",
]
