"""Which files are read. One that cannot be read does not stop the others."""

import os

import pytest

from cascada.core.errors import DataError
from cascada.search import read_passages
from cascada.search.files import find_files


@pytest.fixture
def folder(tmp_path):
    for name in ["b.txt", "a/c.md", "a/deep/d.HTML", ".hidden.txt", ".git/e.txt", "f.docx", "g.json"]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"The text of {name} is here.")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    return tmp_path


def test_folders_are_searched_without_hidden_files_other_types_and_links_to_folders(folder):
    assert [str(path.relative_to(folder)) for path in find_files([folder])] == ["b.txt", "a/c.md", "a/deep/d.HTML"]


def test_a_named_file_is_read_once_even_if_it_is_hidden(folder):
    assert find_files([folder / ".hidden.txt", folder / "b.txt", folder / "a" / ".." / "b.txt"]) == [
        folder / ".hidden.txt",
        folder / "a" / ".." / "b.txt",
    ]


def test_a_path_that_does_not_exist_is_an_error(folder):
    with pytest.raises(DataError, match="nowhere cannot be read: No such file or directory"):
        find_files([folder, folder / "nowhere"])


def test_a_folder_with_nothing_to_read_is_an_error(tmp_path):
    (tmp_path / "a.docx").write_text("x")
    with pytest.raises(DataError, match=r"There is nothing to read in .*: Cascada reads \.txt, \.md"):
        find_files([tmp_path])


def test_unreadable_files_are_reported_and_the_others_are_read(folder):
    (folder / "bad.txt").write_bytes(b"\xff")
    (folder / "empty.md").write_text("")
    problems = []
    found = read_passages([folder], report=problems.append)
    assert [os.path.basename(passage.document) for passage in found] == ["b.txt", "c.md", "d.HTML"]
    assert [str(problem).split(" ")[0].split("/")[-1] for problem in problems] == ["bad.txt,", "empty.md"]


def test_a_jsonl_file_with_an_invalid_line_is_skipped_as_a_whole(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "One."}\n{}\n')
    (tmp_path / "b.txt").write_text("Two.")
    with pytest.warns(UserWarning, match=r"a\.jsonl, line 2"):
        assert [passage.text for passage in read_passages([tmp_path])] == ["Two."]


def test_if_no_file_can_be_read_that_is_an_error(tmp_path):
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(DataError, match=r"a\.txt is empty\.$"):
        read_passages([tmp_path])
    (tmp_path / "b.txt").write_text("")
    with pytest.raises(DataError, match=r"^None of the 2 files can be read; the first: .*a\.txt is empty\.$"):
        read_passages([tmp_path])
