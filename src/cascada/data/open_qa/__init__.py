"""Open-domain question answering as groups: a question and the paragraphs that a search engine retrieves for it."""

from cascada.data.open_qa.build import (
    OpenQAReport,
    Shares,
    group_of,
    groups_of,
    split_articles,
    split_with_test,
    with_questions,
)
from cascada.data.open_qa.pool import Pool, PoolParagraph, PoolSentence, add_passages, build_pool

__all__ = [
    "OpenQAReport",
    "Pool",
    "PoolParagraph",
    "PoolSentence",
    "Shares",
    "add_passages",
    "build_pool",
    "group_of",
    "groups_of",
    "split_articles",
    "split_with_test",
    "with_questions",
]
