"""Groups from a file in SQuAD's layout, article by article."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cascada.core.errors import CascadaError
from cascada.data.group import Group
from cascada.data.sample import spread_positions
from cascada.data.spans import Paragraph
from cascada.data.squad_as2.article import Article, Sentences, articles_of
from cascada.data.squad_as2.negatives import NegativeChoice, choose_negatives
from cascada.text.bm25 import BM25Index


class SquadAS2:
    """Streams a group for each question, with the sentences of its article as candidates and grades 1 to 4.

    `questions` draws that many, spread over the articles; `negatives` caps the incorrect candidates. In memory are the
    paragraphs, and the sentences of one article. The same paragraphs, settings and seed give the same groups.

        groups = SquadAS2(read_paragraphs("dev-v1.1.json"), questions=500)
    """

    def __init__(
        self,
        paragraphs: Iterable[Paragraph],
        *,
        questions: int | None = None,
        negatives: NegativeChoice | None = None,
        seed: int = 0,
    ) -> None:
        self.articles = list(articles_of(paragraphs))
        self.negatives = negatives
        self.seed = seed
        self.left_out = 0
        """Questions without a sentence that holds a marked answer, so far; those without an answer do not count."""
        sizes = [len(article.questions) for article in self.articles]
        if not sum(sizes):
            raise CascadaError("There is no question with a marked answer.")
        self._positions = spread_positions(sizes, sum(sizes) if questions is None else questions, seed)

    def __len__(self) -> int:
        """Number of questions drawn; the result may have fewer, see `left_out`."""
        return sum(map(len, self._positions))

    def __iter__(self) -> Iterator[Group]:
        self.left_out = 0
        for article, positions in zip(self.articles, self._positions, strict=True):
            if positions:
                yield from self._groups(article, positions)

    def _groups(self, article: Article, positions: list[int]) -> Iterator[Group]:
        sentences = Sentences(article)
        questions = article.questions
        index = BM25Index(sentences.texts) if self.negatives else None
        for position in positions:
            group = sentences.group(questions[position])
            if group is None:
                self.left_out += 1
            elif self.negatives and index:
                scores = index.scores(group.question).tolist()
                yield choose_negatives(group, self.negatives, scores, seed=self.seed)
            else:
                yield group
