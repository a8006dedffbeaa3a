import pytest
from loopback import serving

from cascada import Ranker


@pytest.fixture(scope="session")
def bm25():
    """A server of BM25."""
    with serving(Ranker.load("bm25")) as http:
        yield http


@pytest.fixture(scope="session")
def cascade(cascade_folder):
    return Ranker.load(cascade_folder)


@pytest.fixture(scope="session")
def cascade_server(cascade):
    """A server of a cascade with exits after layers 2 and 4, which reads 64 tokens."""
    with serving(cascade) as http:
        yield http
