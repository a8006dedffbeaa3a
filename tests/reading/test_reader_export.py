"""An exported reader finds what the trained one finds, and needs no torch."""

import json
import random
import shutil

import numpy as np
import pytest
from test_imports import command
from typer.testing import CliRunner

from cascada import api
from cascada.cli.main import app
from cascada.core.errors import CascadaError
from cascada.reading import Reader
from cascada.reading.folder import begin, save
from cascada.systems.export import export


@pytest.fixture(scope="module")
def exported(reader_folder, tmp_path_factory):
    """The tiny reader by precision."""
    home = tmp_path_factory.mktemp("exported")
    for precision in ("fp32", "int8"):
        export(reader_folder, home / precision, precision)
    return home


@pytest.fixture(scope="module")
def asked(words):
    """Questions with texts of up to 120 words, which need several windows of 32 tokens."""
    draw = random.Random(4)
    texts = [[" ".join(draw.choices(words, k=count)) for count in (1, 6, 20, 60, 120)] for _ in range(4)]
    return [(" ".join(draw.choices(words, k=3)), [*own, "", " "]) for own in texts]


@pytest.fixture(scope="module")
def dev(tmp_path_factory, words):
    """Twelve questions in SQuAD's layout, whose answer is a word of the paragraph."""
    draw = random.Random(5)
    paragraphs = []
    for number in range(12):
        said = draw.choices(words, k=12)
        answer = {"text": said[5], "answer_start": len(" ".join(said[:5])) + 1}
        question = {"id": str(number), "question": words[number], "answers": [answer]}
        paragraphs.append({"context": " ".join(said), "qas": [question]})
    path = tmp_path_factory.mktemp("squad") / "dev.json"
    path.write_text(json.dumps({"data": [{"title": "A", "paragraphs": paragraphs}]}))
    return path


def places(spans):
    return [[(span.text, span.start, span.end, span.document) for span in own] for own in spans]


def all_scores(spans):
    return [span.score for own in spans for span in own]


def test_in_full_precision_it_finds_the_same_spans(reader_folder, exported, asked):
    expected, found = Reader.load(reader_folder).read_many(asked), Reader.load(exported / "fp32").read_many(asked)
    assert places(found) == places(expected)
    np.testing.assert_allclose(all_scores(found), all_scores(expected), atol=1e-4)


@pytest.mark.parametrize("kind", ["roberta", "distilbert", "mpnet"])
def test_whatever_encoder_it_has(encoder_folders, tmp_path, asked, kind):
    model = begin(str(encoder_folders[kind]), layers=2, max_length=32, overlap=8, dropout=0.1)
    save(model, tmp_path / "trained", tokenizer=encoder_folders[kind], card="")
    export(tmp_path / "trained", tmp_path / "out", "fp32")
    expected, found = (Reader.load(tmp_path / name).read_many(asked) for name in ("trained", "out"))
    assert places(found) == places(expected)


def test_in_int8_scores_are_nearly_the_same(reader_folder, exported, asked):
    expected, found = Reader.load(reader_folder).read_many(asked), Reader.load(exported / "int8").read_many(asked)
    pairs = [
        (one.score, other.score)
        for ours, theirs in zip(found, expected, strict=True)
        for one in ours
        for other in theirs
        if one.document == other.document
    ]
    assert len(pairs) == 20
    assert np.corrcoef(np.array(pairs).T)[0, 1] > 0.95


def test_ask_with_an_exported_reader_needs_no_torch(exported, tmp_path):
    (tmp_path / "plays.md").write_text("It rained. Hamlet is by Shakespeare.")
    reader = exported / "int8"
    done = command("ask", "who wrote hamlet?", tmp_path / "plays.md", "--reader", reader, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "answer" in json.loads(done.stdout)["answers"][0]


def test_a_reader_that_was_not_exported_names_the_extra(reader_folder, tmp_path):
    (tmp_path / "plays.md").write_text("Hamlet is by Shakespeare.")
    done = command("ask", "who?", tmp_path / "plays.md", "--reader", reader_folder)
    assert done.returncode == 2
    assert 'a reader that was not exported needs torch: pip install "cascada[train]"' in done.stderr


def test_the_command_measures_f1_before_and_after(reader_folder, dev, tmp_path):
    options = [str(reader_folder), str(tmp_path / "out"), "--data", str(dev), "--force", "--json"]
    result = CliRunner().invoke(app, ["export", *options], catch_exceptions=False)
    found = json.loads(result.stdout)
    assert set(found) == {"path", "bytes", "F1", "trained_F1"}
    measured = api.evaluate(tmp_path / "out", dev)
    assert measured.measures["F1"] == pytest.approx(found["F1"])
    assert (measured.questions, set(measured.measures)) == (12, {"EM", "F1"})


def test_a_lossy_export_of_a_reader_is_removed(reader_folder, dev, tmp_path, monkeypatch):
    from dataclasses import replace

    from cascada.reading import export as exporting

    real = exporting.agreement
    monkeypatch.setattr(exporting, "agreement", lambda *args: replace(real(*args), trained=0.9, exported=0.8))
    with pytest.raises(CascadaError, match=r"Not exported: F1 fell by 0.1000, from 0.9000 to 0.8000"):
        api.export(reader_folder, tmp_path / "out", data=dev)
    assert not (tmp_path / "out").exists()


def test_what_is_for_rankers_is_refused_in_a_sentence(reader_folder, dev, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(CascadaError, match="texts are for exit 0 of a ranker; a reader has no exits"):
        api.export(reader_folder, out, texts=["one"])
    with pytest.raises(CascadaError, match="split is for rankers: a reader is measured on a file in SQuAD's layout"):
        api.export(reader_folder, out, data=dev, split="dev")
    with pytest.raises(CascadaError, match="store is for rankers"):
        api.evaluate(reader_folder, dev, store="s")
    assert not out.exists()


def test_an_exported_reader_is_checked_and_not_exported_again(exported, tmp_path):
    with pytest.raises(CascadaError, match="is an exported reader, for reading only"):
        export(exported / "fp32", tmp_path / "again")
    broken = shutil.copytree(exported / "fp32", tmp_path / "broken")
    with open(broken / "weights.bin", "r+b") as file:
        file.seek(100)
        file.write(b"x")
    with pytest.raises(CascadaError, match=r"weights\.bin"):
        Reader.load(broken)
