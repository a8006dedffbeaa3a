"""An index with encodings: what they find, and how they follow the index through changes, kills and full disks."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.search import Asker, Index, asker_of
from cascada.search.hybrid import HybridRetriever

FACTS = {
    "plays.txt": "Hamlet was written by Shakespeare. It has five acts.\n\nFaust was written by Goethe.",
    "rain.txt": "It rained all day in the valley.\n\nPhysicians treat heart attacks with aspirin.",
}


@pytest.fixture
def documents(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    for name, text in FACTS.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def index(tmp_path, documents):
    index = Index(tmp_path / "index", create=True)
    index.update([documents])
    assert index.encode() == 4
    return index


@pytest.fixture(scope="module")
def mini():
    return Ranker.load()


def test_a_passage_is_found_that_shares_no_word_with_the_question(index, mini):
    question = "myocardial infarction medicine"
    assert index.retrieve(question, 5) == []
    found = asker_of(index=index.folder, ranker=mini).ask(question)
    assert found[0].text == "Physicians treat heart attacks with aspirin."


def test_answers_and_scores_are_those_without_encodings(index, mini):
    stored = asker_of(index=index.folder, ranker=mini)
    question = "who wrote hamlet?"
    plain = Asker(stored.retriever, mini).ask(question, top=None)
    answers = stored.ask(question, top=None)
    assert [answer.text for answer in answers] == [answer.text for answer in plain]
    assert [answer.score for answer in answers] == pytest.approx([answer.score for answer in plain], abs=0.01)


def test_nothing_is_encoded_twice_and_what_is_new_is_answered_before_it_is_encoded(index, documents, mini):
    assert index.encode() == 0
    (documents / "new.txt").write_text("Egmont was written by Goethe, too.")
    index.update([documents])
    assert "Egmont" in asker_of(index=index.folder, ranker=mini).ask("who wrote Egmont?")[0].text
    assert index.encode() == 1


def test_passages_that_left_the_index_are_not_found_and_finally_removed(index, documents, mini):
    (documents / "plays.txt").write_text("Nothing is left.")
    (documents / "rain.txt").unlink()
    index.update([documents])
    assert list(asker_of(index=index.folder, ranker=mini).ask("aspirin")) == []
    index.encode()
    assert (len(index.encodings.vectors), len(index.encodings.store)) == (1, 1)


def test_another_ranker_still_searches_by_the_vectors(index):
    asker = asker_of(index=index.folder, ranker="bm25")
    assert isinstance(asker.retriever, HybridRetriever)
    assert asker.store is None


def test_encodings_of_a_model_that_has_changed_are_left_alone_with_a_note(index, mini):
    header = index.encodings.folder / "encodings.json"
    header.write_text(json.dumps(json.loads(header.read_text()) | {"fingerprint": "other"}))
    notes = []
    asker = asker_of(index=index.folder, ranker=mini, note=notes.append)
    assert isinstance(asker.retriever, Index)
    assert "has changed since: `cascada index … --encode` makes them again." in notes[0]
    assert Index(index.folder).encode() == 4


def test_a_ranker_that_reads_both_sides_together_cannot_encode(index):
    with pytest.raises(CascadaError, match=r"There is no|is not a|only a decoupled ranker"):
        index.encode("bm25")


def test_a_row_that_was_cut_off_is_ignored_and_written_again(index):
    vectors = index.encodings.vectors
    os.truncate(vectors.file, vectors.row.itemsize * 4 - 10)
    assert len(vectors) == 3
    assert index.encode() == 1
    assert len(set(index.encodings.vectors.keys())) == 4


def start(*arguments, prelude=""):
    code = f"{prelude}\nfrom cascada.cli.main import main; main()"
    command = [sys.executable, "-c", code, "index", *map(str, arguments), "--encode", "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_kill_loses_only_what_was_being_encoded(tmp_path, documents):
    (documents / "many.txt").write_text("\n\n".join(f"Number {n} is a number." for n in range(400)))
    few = "from cascada.search.index import encodings; encodings.PASSAGES_AT_ONCE = 4"
    process = start(documents, tmp_path / "index", prelude=few)
    vectors = tmp_path / "index" / "encodings" / "vectors"
    deadline = time.monotonic() + 300
    while not (vectors.exists() and vectors.stat().st_size):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    index = Index(tmp_path / "index")
    finished = len(index.encodings.vectors)
    assert 0 < finished < 404
    assert index.encode() == 404 - finished
    assert len(set(index.encodings.vectors.keys())) == 404


def test_a_full_disk_is_one_sentence_and_what_was_finished_is_kept(index, documents):
    (documents / "new.txt").write_text("Egmont was written by Goethe, too.")
    index.update([documents])
    before, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (index.encodings.vectors.file.stat().st_size + 100, hard))
    try:
        with pytest.raises(CascadaError, match=r"(no room left for|could not be written).* (is|are) kept: free some"):
            index.encode()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, hard))
    assert len(Index(index.folder).encodings.vectors) == 4
    assert index.encode() == 1
