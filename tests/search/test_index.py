"""The index follows its files, and survives kills and full disks."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from cascada.core.errors import CascadaError, DataError
from cascada.search import Index
from cascada.search.index import update as updating


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    for name in ("alpha", "beta", "gamma"):
        (folder / f"{name}.txt").write_text(f"The word of the day is {name}.\n\nAnother paragraph on {name}.")
    return folder


@pytest.fixture
def index(tmp_path, folder):
    index = Index(tmp_path / "index", create=True)
    index.update([folder])
    return index


def found(index, word):
    return [passage.text for passage in index.retrieve(word, 10)]


def counts(update):
    return (update.added, update.changed, update.unchanged, update.forgotten, update.left_out)


def test_it_can_be_opened_again(index, folder):
    again = Index(index.folder)
    assert (len(again), sorted(again.files())) == (6, sorted(str(path) for path in folder.iterdir()))
    assert found(again, "beta") == found(index, "beta") != []


def test_an_update_reads_only_what_changed(index, folder, monkeypatch):
    (folder / "beta.txt").write_text("Now it says delta.")
    (folder / "new.md").write_text("And epsilon is new.")
    os.utime(folder / "alpha.txt")  # touched, but the same
    files_read = []
    original = updating.file_passages
    monkeypatch.setattr(updating, "file_passages", lambda path: files_read.append(path.name) or original(path))
    assert counts(index.update([folder])) == (1, 1, 2, 0, 0)
    assert files_read == ["beta.txt", "new.md"]
    assert (found(index, "beta"), found(index, "delta")) == ([], ["Now it says delta."])
    assert counts(index.update([folder])) == (0, 0, 4, 0, 0)


def test_files_that_no_longer_exist_are_forgotten(index, folder):
    (folder / "beta.txt").unlink()
    assert counts(index.update([folder])) == (0, 0, 2, 1, 0)
    assert (found(index, "beta"), len(index)) == ([], 4)
    assert len(Index(index.folder).files()) == 2


def test_forgotten_passages_are_not_counted_by_tfidf(index, folder):
    (folder / "more.txt").write_text("\n\n".join(["Something else is said here."] * 4))
    for name in ("alpha", "gamma"):
        (folder / f"{name}.txt").unlink()
    index.update([folder])
    best = Index(index.folder, scoring="tfidf").retrieve("what is the word of the day?", 1)[0]
    assert best.text == "The word of the day is beta."
    assert best.score > 0


def test_other_folders_are_left_alone_and_can_be_forgotten(index, folder, tmp_path):
    (tmp_path / "documents2").mkdir()
    (tmp_path / "documents2" / "zeta.txt").write_text("Zeta stands apart.")
    assert counts(index.update([tmp_path / "documents2"])) == (1, 0, 0, 0, 0)
    assert len(index.files()) == 4
    assert index.forget([folder]) == 3
    assert (found(index, "alpha"), found(index, "zeta")) == ([], ["Zeta stands apart."])


def test_a_file_that_can_no_longer_be_read_is_reported_and_forgotten(index, folder):
    (folder / "beta.txt").write_bytes(b"\xff")
    problems = []
    assert counts(index.update([folder], report=problems.append)) == (0, 0, 2, 0, 1)
    assert "beta.txt, line 1: not UTF-8" in str(problems[0])
    assert found(index, "beta") == []


def test_a_jsonl_file_with_an_invalid_line_is_not_indexed_in_part(index, folder):
    (folder / "facts.jsonl").write_text('{"text": "Eta one."}\n{"text": "Eta two."}\n{}\n')
    with pytest.warns(UserWarning, match=r"facts\.jsonl, line 3"):
        index.update([folder])
    assert found(index, "eta") == []


def test_an_empty_folder_changes_nothing(index, folder):
    for path in folder.iterdir():
        path.unlink()
    with pytest.raises(DataError, match="There is nothing to read in"):
        index.update([folder])
    assert len(index) == 6


def test_a_file_name_that_is_not_valid_text_is_indexed(index, folder):
    path = os.path.join(os.fsencode(folder), b"caf\xe9.txt")
    with open(path, "w") as file:
        file.write("Theta stands here.")
    assert index.update([folder]).added == 1
    assert os.fsencode(index.retrieve("theta", 1)[0].document) == path
    assert index.update([folder]).unchanged == 4


def test_commits_come_between_files(index, folder, monkeypatch):
    monkeypatch.setattr(updating, "COMMIT_AFTER", 1)

    def interrupted(files):
        for number, path in enumerate(files):
            if number == 2:
                raise KeyboardInterrupt
            yield path

    for path in folder.iterdir():
        path.write_text(f"Iota in {path.name}.\n\nAnd iota again.")
    with pytest.raises(KeyboardInterrupt):
        index.update([folder], watch=interrupted)
    again = Index(index.folder)
    assert len(found(again, "iota")) == 4
    assert counts(again.update([folder])) == (0, 1, 2, 0, 0)


def test_a_second_writer_is_rejected_and_readers_are_not(index, folder):
    other = Index(index.folder)

    def meanwhile(files):
        assert found(other, "alpha")
        with pytest.raises(CascadaError, match="Another process is changing the index"):
            other.update([folder])
        return files

    index.update([folder], watch=meanwhile)


@pytest.mark.parametrize("content", ['{"format": 99}', "{}", "nonsense", "[]"])
def test_an_index_of_another_version_is_rejected(index, content):
    (index.folder / "cascada-index.json").write_text(content)
    with pytest.raises(CascadaError, match=r"another version of Cascada \(format 99, this one reads 2\)|is damaged"):
        Index(index.folder)


def test_a_damaged_index_is_rejected(index):
    (index.folder / "meta.json").write_text("{")
    with pytest.raises(CascadaError, match=r"cannot be opened: .* Make it again\."):
        Index(index.folder)


def read_everything(index):
    return index.files(), index.passages(), index.retrieve("alpha", 3)


@pytest.mark.parametrize("suffix", ["idx", "store"])
def test_an_index_whose_files_were_overwritten_is_called_damaged(index, tmp_path, suffix):
    """In a copy: the files of an open index are mapped into memory."""
    damaged = shutil.copytree(index.folder, tmp_path / "damaged")
    for path in damaged.glob(f"*.{suffix}"):
        content = path.read_bytes()
        path.write_bytes(b"\xff" * (len(content) - 200) + content[-200:])  # its footer, which opening reads, is intact
    sentence = "is damaged: remove it, and make it again with `cascada index FOLDER"
    with pytest.raises(CascadaError, match=sentence):
        read_everything(Index(damaged))


def test_a_folder_that_is_not_an_index_is_rejected(tmp_path, folder):
    with pytest.raises(CascadaError, match="is not an index and not empty"):
        Index(folder, create=True)
    with pytest.raises(CascadaError, match="is not an index: make one with"):
        Index(folder)
    with pytest.raises(CascadaError, match="does not exist: make one with"):
        Index(tmp_path / "nowhere")


def test_a_kill_right_after_the_first_file_leaves_an_empty_index(tmp_path, folder):
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "cascada-index.json").write_text('{"format": 2}')
    index = Index(tmp_path / "index", create=True)
    assert len(index) == 0
    assert index.update([folder]).added == 3


# In processes of their own


def start(*arguments, prelude=""):
    code = f"{prelude}\nimport sys; from cascada.cli.main import main; main()"
    command = [sys.executable, "-c", code, "index", *map(str, arguments), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def fill(folder, files):
    for number in range(files):
        words = " ".join(f"w{number * 31 + i}" for i in range(200))
        (folder / f"{number}.txt").write_text(f"Kappa {number}. {words}.\n\nKappa again.")


def test_a_kill_at_any_moment_leaves_an_index_that_opens_and_resumes(index, folder):
    fill(folder, 300)
    often = "from cascada.search.index import update; update.COMMIT_AFTER = 20"
    for _ in range(2):
        process = start(folder, index.folder, prelude=often)
        before = os.stat(index.folder / "meta.json").st_mtime_ns
        deadline = time.monotonic() + 300
        while os.stat(index.folder / "meta.json").st_mtime_ns == before and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        opened = Index(index.folder)
        known = opened.files()
        assert len(opened) == sum(record.passages for record in known.values())
    assert Index(index.folder).update([folder]).left_out == 0
    final = Index(index.folder)
    assert (len(final.files()), len(final)) == (303, 606)


def test_a_full_disk_is_one_sentence_and_leaves_the_old_index(index, folder):
    fill(folder, 200)
    # No file may grow beyond 20,000 bytes: the system's own stand-in for a disk without room.
    before = set(os.listdir(index.folder))
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))"
    process = start(folder, index.folder, prelude=limited)
    out, error = process.communicate(timeout=300)
    assert (process.returncode, out) == (2, "")
    assert error.startswith(f"cascada: The index {index.folder} could not be written: ")
    assert error.endswith("It keeps what it contained before.\n")
    assert error.count("\n") == 1
    assert set(os.listdir(index.folder)) == before
    again = Index(index.folder)
    assert (len(again), len(found(again, "alpha"))) == (6, 2)
    assert again.update([folder]).added == 200


def test_a_files_record_counts_its_passages(index):
    (record,) = [record for record in index.files().values() if record.path.endswith("beta.txt")]
    assert json.loads(record.to_bytes())["passages"] == 2
