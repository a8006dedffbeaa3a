"""Split a text into words, undo tokenisation, and replace surrogates."""

from __future__ import annotations

import re

WORD = re.compile(r"\w+")

_SURROGATES = re.compile("[\ud800-\udfff]")

BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
"""How the Penn Treebank writes brackets, in lower case."""

_RULES = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        ("|".join(BRACKETS), lambda match: BRACKETS[match[0].lower()]),
        (r"``\s*", '"'),
        (r"\s*''", '"'),
        (r"(?<!\w)`\s*", "'"),
        (r"(\d) -- (?=\d)", r"\1–"),
        (r" -- ", " – "),
        (r"\s+(n't|'(?:s|re|ve|ll|d|m))\b", r"\1"),  # do n't, it 's
        (r"\s+'(?=[\s,.;:?!)\]]|$)", "'"),  # the teams ' players, the end of a `quote '
        (r"\s+([,.;:?!%)\]}])", r"\1"),
        (r"([(\[{])\s+", r"\1"),
        (r"\$ (?=\d)", "$"),
        (r"(?<=\w\.)\.$", ""),  # a sentence that ends with an abbreviation: "in the u.s. ."
        (r"\s+", " "),
    )
)


def words(text: str) -> list[str]:
    """Runs of letters and digits, in lower case."""
    return WORD.findall(text.lower())


def normalise(text: str) -> str:
    """The text's words with single spaces between them: for comparisons that ignore case and punctuation."""
    return " ".join(words(text))


def without_surrogates(text: str, *, same_length: bool = False) -> str:
    """Replace surrogates, which no tokenizer and no UTF-8 file takes: a pair becomes its character, a lone one �.

    With `same_length`, each of them becomes �, so that character offsets stay valid.
    """
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        if same_length:
            return _SURROGATES.sub("\ufffd", text)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def detokenise(text: str) -> str:
    """Undo Penn Treebank tokenisation: brackets and quotes as characters, punctuation and clitics next to their words.

    >>> detokenise("it 's `` gold '' -lrb- 24 -- 10 -rrb- , is n't it ?")
    'it\\'s "gold" (24–10), isn\\'t it?'
    """
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.strip()
