import pytest
from nq_records import line

from cascada.data.lines import Line
from cascada.data.natural_questions.record import parse


@pytest.fixture
def parsed():
    """From a record as a mapping to what the library makes of it."""
    return lambda record: parse(Line("nq.jsonl", 1, line(record)))
