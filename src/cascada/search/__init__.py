"""Search: documents in, the sentences that answer a question out."""

from cascada.search.answers import Answer, Answers, ShortAnswer
from cascada.search.asker import Asker
from cascada.search.formats import read
from cascada.search.index import Index, Update
from cascada.search.memory import MemoryRetriever
from cascada.search.paragraphs import passages
from cascada.search.passage import Document, Passage
from cascada.search.reading import read_passages
from cascada.search.retriever import Retriever
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
