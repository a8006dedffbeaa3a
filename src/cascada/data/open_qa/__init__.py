"""Open-domain question answering as groups: a question and the paragraphs that a search engine retrieves for it."""

from cascada.data.open_qa.build import OpenQAReport, Shares, group_of, groups_of, split_articles
from cascada.data.open_qa.pool import Pool, PoolParagraph, PoolSentence, build_pool

__all__ = [
    "OpenQAReport",
    "Pool",
    "PoolParagraph",
    "PoolSentence",
    "Shares",
    "build_pool",
    "group_of",
    "groups_of",
    "split_articles",
]
