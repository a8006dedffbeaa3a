"""Search: answer questions from documents.

`formats` and `files` read documents, `passage` divides them, `retrievers`, `index` and `hybrid` find passages for a
question, `candidates` splits those into sentences, `asker` ranks the sentences, `answers` is the result; `assemble`
puts all of this together from names.
"""

from cascada.search.answers import Answer, Answers, ShortAnswer
from cascada.search.asker import Asker
from cascada.search.assemble import ask, asker_of, retriever_of
from cascada.search.files import read_passages
from cascada.search.formats import read
from cascada.search.index import Index, Update
from cascada.search.passage import Document, Passage, passages
from cascada.search.retrievers import MemoryRetriever, Retriever

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
    "asker_of",
    "passages",
    "read",
    "read_passages",
    "retriever_of",
]
