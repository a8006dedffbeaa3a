"""Texts that are longer than a ranker reads: divided into windows, cut, or refused, for all systems alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cascada.core.errors import TextTooLong
from cascada.ranking.stage import Bools, Ints, Pairs, Stage
from cascada.text.context import InContext
from cascada.text.sentence_windows import Span, TextLimit

Long = Literal["best", "first", "error"]

WINDOW = 128
"""Most tokens of a window. With shorter windows, exit 0 chooses more finely and the layers above it cost less
(`benchmarks/long_texts.py`)."""


@dataclass(frozen=True)
class ReadTexts:
    """The texts of candidates as the stages read them: whole, cut, or in windows."""

    pairs: Pairs
    spans: list[Span | None]
    """For each pair, its part of the candidate's text; None if that is all of it."""
    cut: Bools  # (candidates,): whether the end of the text is in none of its pairs


def limit_of(stages: Sequence[Stage]) -> TextLimit | None:
    """The tightest limit of the stages; None if all of them read texts of any length."""
    limits = [stage.limit for stage in stages if getattr(stage, "limit", None)]  # type: ignore[attr-defined]
    return min(limits, key=lambda limit: limit.longest, default=None)


def read_texts(pairs: Pairs, limit: TextLimit | None, long: Long, max_tokens: int | None) -> ReadTexts:
    """Divide, cut or refuse the texts that are too long; pair i is candidate i.

    A text is too long if the ranker would cut it, or if it has more than `max_tokens` tokens, to which it is cut first.
    """
    count = len(pairs)
    if limit is None or (long == "first" and max_tokens is None):  # stages cut what they do not read
        return ReadTexts(pairs, [None] * count, np.zeros(count, bool))
    parts: list[list[Span] | None] = [None] * count
    cut = np.zeros(count, bool)
    for index, room, tokens in _too_long(pairs, limit, max_tokens):
        text = own_text(pairs.texts[index])
        if max_tokens is not None:
            end = limit.beginning(text, max_tokens)
            cut[index] = end < len(text)
            text, tokens = text[:end], min(tokens, max_tokens)
        if tokens <= room or long == "first":
            parts[index] = [(0, len(text))] if cut[index] else None
        elif long == "error":
            raise _refusal(pairs, index, room)
        else:
            parts[index] = limit.windows(text, min(room, WINDOW))
    return _divided(pairs, parts, cut)


def own_text(text: str) -> str:
    """A text without its context, which is cut before the text is."""
    return text.text if isinstance(text, InContext) else text


def _too_long(pairs: Pairs, limit: TextLimit, max_tokens: int | None) -> list[tuple[int, int, int]]:
    """Each text that is too long: its index, the tokens that are read, and those it has.

    A token has at least one character, so most texts are short enough without counting their tokens.
    """
    rooms = limit.room(pairs.questions)[pairs.owner]
    most = rooms if max_tokens is None else np.minimum(rooms, max_tokens)
    texts = [own_text(text) for text in pairs.texts]
    maybe = np.flatnonzero(np.array([len(text) for text in texts], np.int64) > most)
    counts = limit.counts([texts[index] for index in maybe])
    rows = zip(maybe.tolist(), rooms[maybe].tolist(), counts.tolist(), strict=True)
    return [(index, room, count) for index, room, count in rows if count > most[index]]


def _refusal(pairs: Pairs, index: int, room: int) -> TextTooLong:
    number = index - int(np.searchsorted(pairs.owner, pairs.owner[index]))
    return TextTooLong(
        f"Candidate {number} does not fit: the ranker reads {room} tokens of a text beside this question. "
        'long="best" reads it in windows, long="first" cuts it.'
    )


def _divided(pairs: Pairs, parts: Sequence[Sequence[Span] | None], cut: Bools) -> ReadTexts:
    if not any(parts):
        return ReadTexts(pairs, [None] * len(pairs), cut)
    spans: list[Span | None] = []
    texts: list[str] = []
    for text, text_spans in zip(pairs.texts, parts, strict=True):
        if text_spans is None:
            spans.append(None)
            texts.append(text)
        else:
            spans += text_spans
            texts += [_part(text, span) for span in text_spans]
    candidate: Ints = np.repeat(
        np.arange(len(pairs)), [1 if text_spans is None else len(text_spans) for text_spans in parts]
    )
    return ReadTexts(Pairs(pairs.questions, texts, pairs.owner[candidate], candidate), spans, cut)


def _part(text: str, span: Span) -> str:
    part = own_text(text)[slice(*span)]
    return InContext(part, text.context) if isinstance(text, InContext) else part
