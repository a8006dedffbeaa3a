"""HTML elements that begin a new block of text."""

from __future__ import annotations

_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_LISTS = {"ul", "ol", "li", "dl", "dt", "dd"}
_TABLES = {"table", "caption", "thead", "tbody", "tfoot", "tr"}

BLOCK_TAGS = {"p", "div", "blockquote", "pre", "hr", *_HEADINGS, *_LISTS, *_TABLES}
"""Tags that end a sentence. Others, such as `b`, `a` and `sup`, are part of one; so are `td` and `th`, which makes a
table row read as text."""
