"""Late interaction: of encodings, and, at exit 0, of an encoder's own input embeddings, before its first layer runs.

Every word piece of the question takes its best match among the text's word pieces,

    s(q, t) = Σ_i w_i · max_j cos(q_i, t_j) / Σ_i w_i,

where the vectors are rows of the encoder's embedding table, less their mean. w is the IDF of the word piece times the
fourth root of its IDF among the candidates: a word piece that most of them have says little about which is right.
Nothing is trained, no layer is run, and the table is the one that the encoder has anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cascada.ranking.arrays import sigmoid
from cascada.ranking.executor import rows_of
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored
from cascada.text.bm25 import idf
from cascada.text.pair_arrays import EncodedPairs, PairTokens
from cascada.text.pairs import PairTokenizer

NO_MATCH = -1.0
"""The similarity of a text without word pieces: the lowest that a cosine can be."""

SCALE, SHIFT = 10.0, -8.0
"""Default scale and shift from a similarity to a raw score, whose sigmoid is the probability; `cascada calibrate` fits
both."""

PRESENT = 0.8
"""The similarity from which on a text counts as having a piece of the question."""

AMONG_CANDIDATES = 0.25
"""The exponent of a piece's IDF among the candidates."""

ONE_THREAD = 1 << 18
"""Multiplications up to which OpenBLAS computes a matrix product in the calling thread."""

SHORTEST = 1e-8
"""Vectors that are shorter than this are not scaled to length 1, as in torch."""

DOCUMENTS_AT_ONCE = 128
"""Documents whose tokens are compared with a question together."""


@dataclass(frozen=True)
class PieceVectors:
    """A vector and a weight for each word piece of a vocabulary."""

    table: NDArray[Any]  # (vocabulary, width): the embedding table, float32 or int8
    mean: Floats  # (width,): of all rows
    weights: Floats  # (vocabulary,): IDF; 0 for pieces that are never compared, such as special and unknown ones
    scaling: tuple[float, float] = (SCALE, SHIFT)
    """Scale and shift from a similarity to a raw score."""
    row_scales: Floats | None = None  # (vocabulary, 1): by which an int8 table is dequantised

    def unit(self, ids: Ints) -> Floats:
        """Unit vectors of some pieces, (pieces, width)."""
        rows = self.table[ids]
        vectors = (rows if self.row_scales is None else rows * self.row_scales[ids]) - self.mean
        lengths: Floats = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)

    def cosines(self, question: Ints, pieces: Ints) -> Floats:
        """The cosine of each of the question's pieces with each of some others, (question, pieces).

        Rows are compared as they stand in the table; scale, mean and length are applied to the products.
        """
        asked = self.unit(question)
        left = np.concatenate((asked, self.mean[None]))  # the last row gives each piece's product with the mean
        products = np.empty((len(left), len(pieces)), np.float32)
        squares = np.empty(len(pieces), np.float32)
        for part in parts_for_one_thread(left, len(pieces)):
            rows = self.table[pieces[part]].astype(np.float32, copy=False)
            np.matmul(left, rows.T, out=products[:, part])
            np.einsum("ij,ij->i", rows, rows, out=squares[part])
        scales = np.float32(1) if self.row_scales is None else self.row_scales[pieces, 0]
        lengths = scales * scales * squares - 2 * scales * products[-1] + self.mean @ self.mean
        centred = products[:-1] * scales - (asked @ self.mean)[:, None]
        return np.asarray(centred / np.sqrt(np.maximum(lengths, 1e-12)), np.float32)


def piece_weights(texts: Iterable[Sequence[int]], vocabulary: int, ignored: Iterable[int]) -> Floats:
    """The IDF of each piece over some texts, given by their ids; a piece in none of them has the highest IDF."""
    frequency = np.zeros(vocabulary, np.int64)
    count = 0
    for ids in texts:
        frequency[np.unique(np.asarray(ids, np.int64))] += 1
        count += 1
    weights = np.array([idf(count, having) for having in range(count + 1)], np.float32)[frequency]
    weights[list(ignored)] = 0
    return weights


class Tokeniser(Protocol):
    """Turns questions and texts into token ids: `PairTokenizer` and `SideTokenizer` do."""

    def tokenise(self, questions: Sequence[str], texts: Sequence[str], owner: Ints) -> PairTokens: ...


class ExitZero:
    """The stage of exit 0. It passes the token ids on, so that the next stage does not tokenise again."""

    exit = 0
    layers = 0
    compares_candidates = True

    def __init__(self, vectors: PieceVectors, tokenizer: Tokeniser) -> None:
        self.vectors = vectors
        self.tokenizer = tokenizer

    def score(self, pairs: Pairs, state: None, deadline: Deadline) -> Scored:
        tokens = self.tokenizer.tokenise(pairs.questions, pairs.texts, pairs.owner)
        similarity = np.zeros(len(pairs), np.float32)
        products = np.zeros(len(pairs), np.int64)
        for rows in rows_of(pairs.owner, len(pairs.questions)):
            if len(rows):
                similarity[rows], products[rows] = match(self.vectors, tokens, rows)
        scale, shift = self.vectors.scaling
        scores = (scale * similarity + shift).astype(np.float32)
        operations = 2 * len(self.vectors.mean) * products
        return Scored(scores, tokens, tokens.truncated, tokens.lengths, operations)

    def flops(self, tokens: Ints) -> Ints:
        """Nothing that depends on the pair's length alone; `score` counts the products it makes."""
        return np.zeros_like(tokens)

    def probability(self, scores: Floats) -> Floats:
        """The sigmoid of the raw score; a probability of being correct once the ranker was calibrated."""
        return sigmoid(scores)


def best_matches(question: Floats, documents: Sequence[Floats]) -> Floats:
    """The mean, over a question's tokens (tokens, hidden), of the best cosine with any token of each document.

    Special tokens at either end of the question do not count. Documents are compared some at a time, to bound memory.
    """
    asked = unit(question[1:-1] if len(question) > 2 else question)
    scores = np.zeros(len(documents), np.float32)
    for start in range(0, len(documents), DOCUMENTS_AT_ONCE):
        some = documents[start : start + DOCUMENTS_AT_ONCE]
        first = np.cumsum([0, *(len(tokens) for tokens in some[:-1])])
        tokens = np.concatenate(some).astype(np.float32, copy=False)  # a store may have float16
        lengths = np.sqrt(np.einsum("ij,ij->i", tokens, tokens))
        cosines = products(asked, tokens) / np.maximum(lengths, SHORTEST)
        scores[start : start + len(some)] = np.maximum.reduceat(cosines, first, axis=1).mean(0)
    return scores


def products(left: Floats, right: Floats) -> Floats:
    """Inner products of two sets of vectors, (left, right), in the calling thread."""
    out = np.empty((len(left), len(right)), np.float32)
    for part in parts_for_one_thread(left, len(right)):
        np.matmul(left, right[part].T, out=out[:, part])
    return out


def parts_for_one_thread(left: Floats, right: int) -> Iterator[slice]:
    """Parts of `right` vectors that are multiplied with `left` one after another, in the calling thread.

    Each is so small that it stays in the processor's cache, and that BLAS does not wake its threads, which would spin
    on the cores for a while after the product, when the first layer needs them.
    """
    some = max(1, ONE_THREAD // left.size)
    return (slice(start, start + some) for start in range(0, right, some))


def unit(vectors: Floats) -> Floats:
    """The vectors scaled to length 1; a zero vector stays zero, as in torch."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), SHORTEST)  # type: ignore[no-any-return]


def encoded_pairs(tokenizer: PairTokenizer, pairs: Pairs, tokens: PairTokens | None) -> EncodedPairs:
    """The pairs laid out for the first layer; `tokens` are what exit 0 passed on, if there is one."""
    if tokens is None:
        return tokenizer.encode(pairs.questions, pairs.texts, pairs.owner)
    return tokenizer.layout.lay_out(tokens)


def match(vectors: PieceVectors, tokens: PairTokens, rows: Ints) -> tuple[Floats, Ints]:
    """Similarities of one question's pairs, and how many dot products each is made of, (rows,) each.

    A piece that occurs in many texts is compared with the question once.
    """
    question = tokens.question(rows[0])
    question = question[vectors.weights[question] > 0]
    weights = vectors.weights[question]
    ids, lengths = tokens.text_ids(rows)
    known = vectors.weights[ids] > 0
    owner = np.repeat(np.arange(len(rows)), lengths)[known]
    ids = ids[known]
    lengths = np.bincount(owner, minlength=len(rows))
    scores = np.full(len(rows), NO_MATCH, np.float32)
    if not len(question):  # nothing to compare: all texts are alike
        return np.zeros(len(rows), np.float32), np.zeros(len(rows), np.int64)
    if len(ids):
        pieces, column = _distinct(ids, len(vectors.weights))
        similar = vectors.cosines(question, pieces)
        some = np.flatnonzero(lengths)
        starts = np.cumsum(lengths[some]) - lengths[some]
        best = np.maximum.reduceat(similar[:, column], starts, axis=1)  # (question, texts with pieces)
        weights = weights * idf_among(best)
        scores[some] = weights @ best / weights.sum()
    return scores, lengths * len(question)


def idf_among(best: Floats) -> Floats:
    """The factor of each question piece's weight, (question,), from its best matches, (question, candidates)."""
    having = (best > PRESENT).sum(1)
    rarity = np.log1p((best.shape[1] - having + 0.5) / (having + 0.5))
    return np.asarray(rarity**AMONG_CANDIDATES, np.float32)


def _distinct(ids: Ints, vocabulary: int) -> tuple[Ints, Ints]:
    """The distinct ids, and each id's place among them; without sorting."""
    seen = np.zeros(vocabulary, bool)
    seen[ids] = True
    pieces = np.flatnonzero(seen)
    place = np.empty(vocabulary, np.int64)
    place[pieces] = np.arange(len(pieces))
    return pieces, place[ids]
