"""A text with what stands before it: a title, a heading, the sentence before."""

from __future__ import annotations


class InContext(str):
    """The string "context: text", which remembers where the text itself begins.

    Rankers read the whole string. If it is too long, tokenizers cut the context first.

    >>> InContext("It was built by Ada Lovelace.", "The lighthouse")
    'The lighthouse: It was built by Ada Lovelace.'
    """

    context: str
    text: str

    def __new__(cls, text: str, context: str) -> InContext:
        whole = super().__new__(cls, f"{context}: {text}" if context else text)
        whole.text = text
        whole.context = context
        return whole

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # so that it can be pickled
        return self.text, self.context

    @property
    def before(self) -> str:
        """What comes before the text."""
        return self[: len(self) - len(self.text)]
