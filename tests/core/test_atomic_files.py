"""A file appears when it is complete, and not before."""

import gzip
from contextlib import suppress

import pytest

from cascada.core.errors import DataError
from cascada.core.files import atomic_write, atomic_write_bytes, cache_folder


@pytest.mark.parametrize(("write", "content"), [(atomic_write, "new"), (atomic_write_bytes, b"new")])
def test_a_file_is_replaced_when_everything_is_written(tmp_path, write, content):
    path = tmp_path / "x"
    path.write_text("old")
    with write(path) as file:
        file.write(content)
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("write", "content"), [(atomic_write, "new"), (atomic_write_bytes, b"new")])
def test_if_writing_fails_the_old_file_stays_and_nothing_else(tmp_path, write, content):
    path = tmp_path / "x"
    path.write_text("old")
    with suppress(RuntimeError), write(path) as file:
        file.write(content)
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_path_in_gz_is_compressed(tmp_path):
    with atomic_write(tmp_path / "x.gz") as file:
        file.write("a\nb\n")
    assert gzip.decompress((tmp_path / "x.gz").read_bytes()) == b"a\nb\n"


def test_through_a_link_its_target_is_written(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with atomic_write(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "target").read_text() == "new"
    assert (tmp_path / "link").is_symlink()


def test_a_folder_is_not_overwritten(tmp_path):
    with pytest.raises(DataError, match="cannot be written: it is not a file"), atomic_write(tmp_path):
        pass


def test_the_cache_is_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("CASCADA_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("CASCADA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "cascada"
