"""A search index on disk: what it stores (`layout`), how it is searched (`index`) and updated (`update`)."""

from cascada.search.index.index import Index
from cascada.search.index.layout import is_index
from cascada.search.index.update import IndexBusy, Update

__all__ = ["Index", "IndexBusy", "Update", "is_index"]
