"""Exit scores that are known, and rankers that give them: a candidate's text is its name in a table."""

import numpy as np
from hypothesis import strategies as st

from cascada.data import Candidate, Group
from cascada.ranking import Ranker
from cascada.ranking.stage import Scored
from cascada.ranking.tuning import ExitScores, ScoredQuestion


class TableStage:
    """Looks every score up."""

    def __init__(self, table, exit, layers):
        self.table, self.exit, self.layers = table, exit, layers

    def score(self, pairs, state, deadline):
        return Scored(np.array([self.table[text] for text in pairs.texts], np.float32))

    def flops(self, tokens):
        return np.zeros_like(tokens)

    def probability(self, scores):
        return 1 / (1 + np.exp(-scores))


def ranker_of(scores: ExitScores) -> Ranker:
    """A ranker with these scores, for the groups of `groups_of`."""
    stages = []
    for place, (exit, layers) in enumerate(zip(scores.exits, scores.layers, strict=True)):
        table = {
            f"{number} {name}": question.scores[place, column]
            for number, question in enumerate(scores.questions)
            for column, name in enumerate(question.ids)
        }
        stages.append(TableStage(table, exit, layers))
    return Ranker(stages)


def groups_of(scores: ExitScores) -> list[Group]:
    return [
        Group(
            "which?",
            tuple(
                Candidate(f"{number} {name}", int(label), name)
                for name, label in zip(question.ids, question.labels, strict=True)
            ),
            str(number),
        )
        for number, question in enumerate(scores.questions)
    ]


def scores_of(matrices, labels=None, *, layers=None) -> ExitScores:
    """Exit scores from one (exits, candidates) matrix per question."""
    matrices = [np.array(matrix, np.float32) for matrix in matrices]
    exits = len(matrices[0])
    layers = tuple(layers or (1,) * exits)
    labels = labels or [[1] + [0] * (matrix.shape[1] - 1) for matrix in matrices]
    questions = tuple(
        ScoredQuestion(matrix, np.array(row), tuple(f"c{column}" for column in range(len(row))))
        for matrix, row in zip(matrices, labels, strict=True)
    )
    return ExitScores(tuple(range(1, exits + 1)), layers, sum(layers), questions)


def learning(questions: int, candidates: int, *, exits: int = 3, seed: int = 0) -> ExitScores:
    """Exit scores in which every exit separates the correct candidates better than the one before."""
    chance = np.random.default_rng(seed)
    labels = [np.eye(candidates, dtype=int)[chance.integers(candidates)] for _ in range(questions)]
    clear = np.linspace(0.5, 3, exits)[:, None]
    matrices = [
        clear * row + chance.normal(size=candidates) + 0.5 * chance.normal(size=(exits, candidates)) for row in labels
    ]
    return scores_of(matrices, labels, layers=[2] * exits)


@st.composite
def exit_scores(draw, questions=1) -> ExitScores:
    """A few questions with few different scores, so that ties are common, and ids in any order."""
    exits = draw(st.integers(2, 4))
    scored = []
    for _ in range(draw(st.integers(questions, 4))):
        count = draw(st.integers(1, 9))
        rows = st.lists(st.integers(-2, 2), min_size=count, max_size=count)
        matrix = draw(st.lists(rows, min_size=exits, max_size=exits))
        labels = draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=count, max_size=count))
        ids = draw(st.permutations([f"c{column}" for column in range(count - 1)] + ["é"]))
        scored.append(ScoredQuestion(np.array(matrix, np.float32), np.array(labels), tuple(ids)))
    layers = tuple(draw(st.lists(st.integers(0, 4), min_size=exits, max_size=exits)))
    return ExitScores(tuple(range(2, 2 + exits)), layers, sum(layers), tuple(scored))
