"""Open-domain question answering as groups: a question against the paragraphs that a search engine finds for it."""

from cascada.data.open_qa.build import Report, Shares, group_of, groups_of, split_articles
from cascada.data.open_qa.pool import Pool, Pooled, Sentence, pooled

__all__ = ["Pool", "Pooled", "Report", "Sentence", "Shares", "group_of", "groups_of", "pooled", "split_articles"]
