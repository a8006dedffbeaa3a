"""`cascada encode`, as a user runs it; the encoder is a small one."""

import json
import os
import signal
import sys
import time

import pytest
from hashing import HashingEncoder, child, document_encoder

from cascada.cli import encode
from cascada.cli.main import main
from cascada.core.errors import CascadaError
from cascada.scale.models import load_encoder
from cascada.store import Store, is_store
from cascada.systems.decoupled.engine import document_encoder as document_side
from cascada.systems.load import BUNDLED_FOLDER


def small_encoder(model, *, bfloat16):
    return document_encoder(model)


@pytest.fixture
def cascada(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(encode, "encoder_of", small_encoder)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "a.txt").write_text("It rained. Hamlet is by Shakespeare.\n\nIt rained.")
    (tmp_path / "documents" / "b.md").write_text("# Plays\n\nMacbeth is short.")
    group = {"question": "who?", "candidates": [{"text": "He did.", "label": 1}, {"text": "It rained.", "label": 0}]}
    (tmp_path / "groups.jsonl").write_text(json.dumps(group) + "\n")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["cascada", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return run


def test_the_sentences_that_ask_ranks_are_encoded_once(cascada):
    assert cascada("encode", "8", "documents", "s") == (0, "s: 3 texts (3 added, 0 already there)\n", "")
    store = Store.open("s", fingerprint=HashingEncoder(8).fingerprint)
    assert store.missing(["It rained.", "Hamlet is by Shakespeare.", "Macbeth is short.", "# Plays"]) == ["# Plays"]
    assert cascada("encode", "8", "documents", "s")[1] == "s: 3 texts (0 added, 3 already there)\n"


def test_an_empty_store_is_filled(cascada):
    encoder = HashingEncoder(8)
    Store.create("s", fingerprint=encoder.fingerprint, width=encoder.width, form="fp16")
    assert cascada("encode", "8", "documents", "s")[1] == "s: 3 texts (3 added, 0 already there)\n"
    assert "holds fp16, not int8" in cascada("encode", "8", "documents", "s", "--form", "int8")[2]


def test_paragraphs_and_the_candidates_of_a_data_set_can_be_encoded_too(cascada):
    code, out, _ = cascada("encode", "8", "documents/a.txt", "documents/b.md", "s", "--units", "paragraphs", "--json")
    assert (code, json.loads(out)) == (0, {"documents": 3, "added": 3, "present": 0})
    code, out, _ = cascada("encode", "8", "groups.jsonl", "s", "--units", "candidates", "--json")
    assert (code, json.loads(out)) == (0, {"documents": 4, "added": 1, "present": 1})
    store = Store.open("s")
    assert store.missing(["# Plays\n\nMacbeth is short.", "It rained.", "He did."]) == []


def test_several_workers_fill_one_store(cascada, tmp_path):
    (tmp_path / "many.txt").write_text("\n\n".join(f"This is line {number}." for number in range(100)))
    assert cascada("encode", "8", "many.txt", "s", "--workers", "2", "--form", "fp16")[:2] == (
        0,
        "s: 100 texts (100 added, 0 already there)\n",
    )
    assert Store.open("s").header.form == "fp16"


def test_a_bad_file_is_reported_and_the_rest_is_added(cascada, tmp_path):
    (tmp_path / "documents" / "c.txt").write_bytes(b"\xff")
    code, out, error = cascada("encode", "8", "documents", "s")
    assert (code, out) == (0, "s: 3 texts (3 added, 0 already there)\n")
    assert error == "cascada: left out: documents/c.txt, line 1: not UTF-8 text; save the file as UTF-8.\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("9", "documents", "other"), "other holds the encodings of another model (hashing-8, not hashing-9)"),
        (
            ("8", "documents", "other", "--form", "fp32"),
            "other holds int8, not fp32: use another folder for another format.",
        ),
        (("8", "documents", "new", "--form", "int4"), "There is no number format 'int4'"),
        (("8", "nowhere", "new"), "nowhere cannot be read: No such file or directory."),
        (("8", "documents", "new", "--units", "words"), "--units takes sentences, paragraphs or candidates"),
        (("8", "documents", "new", "--split", "test"), "--root and --split belong to a data set: add --units"),
        (("8", "documents", "documents"), "documents is not a store and not empty"),
        (("8", "nowhere", "new", "--units", "candidates"), "There is no data set 'nowhere'"),
    ],
)
def test_a_mistake_is_one_sentence_and_makes_no_store(cascada, arguments, sentence):
    Store.create("other", fingerprint="hashing-8", width=8)
    code, out, error = cascada("encode", *arguments)
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert error.startswith("cascada: ")
    assert sentence in error
    assert not os.path.exists("new")


STUCK = """
import time
from cascada.cli import encode, main

class Stuck(HashingEncoder):
    batches = 0

    def encode(self, texts):
        self.batches += 1
        if self.batches > 2:
            time.sleep(3600)
        return super().encode(texts)

encode.encoder_of = lambda model, bfloat16: Stuck()
sys.argv = ["cascada", "encode", "stuck", "many.txt", "s"]
main.main()
"""


def test_ctrl_c_reports_how_many_texts_are_stored(cascada, tmp_path):
    (tmp_path / "many.txt").write_text("\n\n".join(f"This is line {number}." for number in range(3_000)))
    running = child(STUCK)
    while running.poll() is None and not (is_store(tmp_path / "s") and len(Store.open("s"))):
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, error = running.communicate(timeout=300)
    there = len(Store.open("s"))
    assert (running.returncode, out) == (130, "")
    assert error == f"cascada: s has {there:,} texts; the same command resumes from there.\n"
    assert 0 < there < 3_000


@pytest.mark.parametrize("load", [encode.encoder_of, load_encoder], ids=["encode", "scale encode"])
def test_the_bundled_model_encodes_by_its_name(load, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert load("cascada-mini").fingerprint == document_side(BUNDLED_FOLDER).fingerprint


def test_an_exported_ranker_is_not_encoded_in_another_precision():
    with pytest.raises(CascadaError, match="is exported, so its precision was chosen then"):
        encode.encoder_of("cascada-mini", bfloat16=True)
