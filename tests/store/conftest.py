import pytest
from hashing import HashingEncoder

from cascada.store import Store


@pytest.fixture
def encoder():
    return HashingEncoder()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def store(folder, encoder):
    return Store.create(folder, fingerprint=encoder.fingerprint, width=encoder.width)
