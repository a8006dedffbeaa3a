import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # before haystack is imported, which otherwise reports usage

import pytest

from cascada import Ranker


@pytest.fixture(scope="session")
def cascade(cascade_folder):
    """Exits after layers 2 and 4, random weights: with drops, scores are not in the order of its rankings."""
    return Ranker.load(cascade_folder)


@pytest.fixture(scope="session")
def question(words):
    return f"{words[3]} {words[7]}"


@pytest.fixture(scope="session")
def texts(words):
    return [" ".join(words[i : i + 1 + i % 5]) for i in range(30)]


@pytest.fixture(scope="session")
def dropped(cascade, question, texts):
    """A ranking with half of the candidates dropped, whose own scores are not in order."""
    ranking = cascade.rank(question, texts, drop=0.5)
    scores = [item.score for item in ranking]
    assert scores != sorted(scores, reverse=True)
    return [item.index for item in ranking]
