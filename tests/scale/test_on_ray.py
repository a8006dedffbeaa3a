"""A cluster computes what one machine does, even if a worker is killed, and does nothing twice."""

import json
import os
import re
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import httpx
import pytest
from hashing import HashingEncoder, texts
from killable import PATIENCE, KilledEncoder, killing, letter_ranker

from cascada.cli.main import main
from cascada.core.errors import CascadaError, DataError
from cascada.data import Candidate, Group, qrels, write_jsonl, write_run
from cascada.data.natural_questions import line_results, write_asnq
from cascada.metrics import evaluate
from cascada.ranking import Ranker
from cascada.ranking.inputs import PAIRS_AT_ONCE, RankOptions
from cascada.ranking.runs import run_of
from cascada.store import Store, fill, open_store, shard_of

pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.usefixtures("cluster")]

HERE = Path(__file__).parent
PAGE = "<P> Lyra is small . It holds Vega . </P> <P> Vega is bright . Stars move . </P>"


@pytest.fixture
def gate(tmp_path):
    folder = tmp_path / "gate"
    folder.mkdir()
    return folder


@pytest.fixture
def corpus(tmp_path):
    """Files of sentences, some of which are in two files."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(3):
        some = texts(900)[250 * number : 250 * number + 400]
        (folder / f"{number}.txt").write_text("\n\n".join(f"This is {text}." for text in some))
    return folder


@pytest.fixture(scope="module")
def groups():
    """A few more pairs than three blocks of the smallest size; one question has no candidates."""

    def candidates(question):
        right = question % 64
        return tuple(
            Candidate(
                f"word{question * 7 % 31} sentence {place * question % 101}", int(place == right), f"{question}-{place}"
            )
            for place in range(0 if question == 40 else 64)
        )

    return [Group(f"which one of {question}?", candidates(question), str(question)) for question in range(110)]


def cascada(capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["cascada", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    captured = capsys.readouterr()
    return ended.value.code or 0, captured.out, captured.err


def contents(store):
    return dict(store.walk(lambda key, value: (key, bytes(value))))


def encoded(load, source, out, shards=4):
    from cascada.scale.corpus import Corpus
    from cascada.scale.encode import encode
    from cascada.scale.shard import EncodingJob

    return encode(EncodingJob(load), Corpus(), [str(source)], str(out), shards=shards)


def test_shards_hold_what_one_store_would_even_if_a_worker_is_killed(tmp_path, corpus, gate):
    with killing(gate) as killed:
        done = encoded(partial(KilledEncoder, str(gate)), corpus, tmp_path / "out")
    assert len(killed) == 1

    encoder = HashingEncoder()
    alone = Store.create(tmp_path / "alone", fingerprint=encoder.fingerprint, width=encoder.width)
    wanted = [f"This is {text}." for text in texts(900)]
    assert (done.documents, done.added, done.problems) == (900, fill(alone, encoder, wanted), ())
    shards = open_store(tmp_path / "out", fingerprint=encoder.fingerprint)
    found = [contents(Store.open(tmp_path / "out" / f"shard-0000{number}-of-00004")) for number in range(4)]
    assert sum(map(len, found)) == 900  # nothing is there twice
    assert {key: value for part in found for key, value in part.items()} == contents(alone)
    assert shards.missing(wanted) == []
    assert not [name for name in os.listdir(tmp_path / "out") if not name.startswith("shard-")]


def test_encoding_again_adds_new_texts_and_reports_unreadable_files(tmp_path, corpus):
    first = encoded(HashingEncoder, corpus / "0.txt", tmp_path / "out")
    (corpus / "bad.txt").write_bytes(b"\xff")
    second = encoded(HashingEncoder, corpus, tmp_path / "out")
    third = encoded(HashingEncoder, corpus, tmp_path / "out")
    assert [(result.documents, result.added) for result in (first, second, third)] == [(400, 400), (900, 500), (900, 0)]
    assert len(second.problems) == 1
    assert "bad.txt, line 1: not UTF-8 text" in second.problems[0]
    shard = tmp_path / "out" / "shard-00000-of-00004"
    assert [name for name in os.listdir(shard) if not name.endswith("-lock")] == ["encodings-2.mdb"]


def test_a_store_keeps_its_number_of_shards_and_its_model(tmp_path, corpus):
    encoded(HashingEncoder, corpus / "0.txt", tmp_path / "out", shards=2)
    with pytest.raises(CascadaError, match="holds a store of 2 shards, not of 4"):
        encoded(HashingEncoder, corpus, tmp_path / "out")
    with pytest.raises(CascadaError, match=r"holds the encodings of another model \(hashing-8, not hashing-9\)"):
        encoded(partial(HashingEncoder, 9), corpus, tmp_path / "out", shards=2)


def test_file_urls_work_like_paths(tmp_path, corpus):
    done = encoded(HashingEncoder, f"file://{corpus}", f"file://{tmp_path}/out", shards=2)
    assert (done.documents, done.added) == (900, 900)
    text = "This is word0."
    assert text in Store.open(tmp_path / "out" / f"shard-0000{shard_of(text, 2)}-of-00002")


def ranked(load, groups, out, **options):
    from cascada.scale.rank import RankingJob, rank

    return rank(RankingJob(load, "letters", **options), groups, str(out), pairs=PAIRS_AT_ONCE)


def test_a_run_is_the_same_to_the_byte_even_if_a_worker_is_killed(tmp_path, groups, gate):
    write_run(run_of(letter_ranker(), groups), tmp_path / "alone.trec")
    with killing(gate) as killed:
        done = ranked(partial(letter_ranker, str(gate)), groups, tmp_path / "out.trec", measures=("MAP", "P@1"))
    assert len(killed) == 1
    assert (tmp_path / "out.trec").read_bytes() == (tmp_path / "alone.trec").read_bytes()
    assert (done.pairs, done.added) == (109 * 64, 109 * 64)
    assert len(os.listdir(tmp_path / "out.trec.blocks")) == 4
    assert done.evaluation.mean == evaluate(run_of(letter_ranker(), groups), qrels(groups), ("MAP", "P@1")).mean
    assert done.evaluation.questions == 110


def test_ranking_again_ranks_only_missing_blocks(tmp_path, groups):
    out, blocks = tmp_path / "out.trec", tmp_path / "out.trec.blocks"
    ranked(letter_ranker, groups, out)
    first = out.read_bytes()
    gone = sorted(os.listdir(blocks))[1]
    (blocks / gone).unlink()
    done = ranked(letter_ranker, groups, out)
    assert out.read_bytes() == first
    assert done.added == PAIRS_AT_ONCE
    again = ranked(letter_ranker, groups, out, measures=("MAP",))
    assert again.added == 0
    assert again.evaluation.mean == evaluate(run_of(letter_ranker(), groups), qrels(groups), ("MAP",)).mean
    changed = [
        Group("another question?", group.candidates, group.id) if group.id == "100" else group for group in groups
    ]
    assert ranked(letter_ranker, changed, out).added == (109 - 96) * 64  # the last block


def test_the_command_ranks_what_evaluate_ranks(tmp_path, groups, capsys, monkeypatch):
    write_jsonl(groups[:20], tmp_path / "groups.jsonl")
    write_run(run_of(Ranker.load("bm25+bm25"), groups[:20], RankOptions.of(drop=0.5)), tmp_path / "alone.trec")
    monkeypatch.chdir(tmp_path)
    code, out, error = cascada(
        capsys, monkeypatch, "scale", "rank", "bm25+bm25", f"file://{tmp_path}/groups.jsonl", "out.trec",
        "--drop", 0.5, "--mode", "clean", "--measures", "MAP,P@1", "--json",
    )  # fmt: skip
    assert (code, error) == (0, "")
    found = json.loads(out)
    assert (found["path"], found["pairs"], found["added"], found["questions"]) == ("out.trec", 1280, 1280, 20)
    assert (tmp_path / "out.trec").read_bytes() == (tmp_path / "alone.trec").read_bytes()
    code, out, error = cascada(capsys, monkeypatch, "scale", "rank", "bm25", "groups.jsonl", "out.trec")
    assert (code, out) == (2, "")
    assert error.startswith("cascada: bm25 needs the IDF of all the data")


def questions(*names):
    marked = [{"start_token": 0, "end_token": 10}, {"start_token": 7, "end_token": 8}]
    annotation = {"yes_no_answer": "NONE", "long_answer": marked[0], "short_answers": marked[1:]}
    none = {"yes_no_answer": "NONE", "long_answer": {"start_token": -1, "end_token": -1}, "short_answers": []}
    records = [
        {"question_text": name, "document_text": PAGE, "annotations": [none if name == "none" else annotation]}
        for name in names
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


def test_natural_questions_become_the_same_asnq_file_by_file(tmp_path):
    from cascada.scale.asnq import convert

    files = [tmp_path / f"nq-{number}.jsonl" for number in range(3)]
    files[0].write_text(questions("one", "none", "two"))
    files[1].write_text("no JSON\n" + questions("one", "three"))
    files[2].write_text(questions("none"))
    alone = write_asnq(line_results(files), tmp_path / "alone.tsv")
    done = convert([f"file://{file}" for file in files], str(tmp_path / "out.tsv"))
    assert (tmp_path / "out.tsv").read_bytes() == (tmp_path / "alone.tsv").read_bytes()
    assert done.counted == alone.counted
    assert (done.skipped, done.problems) == (alone.skipped, alone.problems)
    assert str(done.first_problems[0]) == str(alone.first_problems[0])

    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "out.tsv.blocks").iterdir()}
    files[2].write_text(questions("four"))
    again = convert(list(map(str, files)), str(tmp_path / "out.tsv"))
    assert again.counted.questions == 4
    assert {path: path.stat().st_mtime_ns for path in made} == made
    assert len(list((tmp_path / "out.tsv.blocks").iterdir())) == len(made) + 2
    files[2].unlink()
    with pytest.raises(DataError, match=re.escape(f"There is no file {files[2]}.")):
        convert(list(map(str, files)), str(tmp_path / "out.tsv"))


def test_a_workers_error_reaches_the_caller_and_an_item_that_kills_workers_is_given_up(tmp_path):
    command = [sys.executable, str(HERE / "failing_items.py"), str(tmp_path / "outcomes.json")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (HERE, HERE.parent)))}
    for _ in range(2):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode >= 0:  # else Ray's driver died by a signal
            break
    assert done.returncode == 0, done.stderr
    results, sentence, given_up = json.loads((tmp_path / "outcomes.json").read_text())
    assert results == [0, 1, 2]
    assert sentence == "Three is not allowed."
    assert given_up.startswith("The cluster gave up on a part of the work")


@pytest.fixture
def study(tmp_path, encoder_folder, words):
    from cascada.training.recipes import parse_recipe

    data = [
        Group(words[number], (Candidate(f"{words[0]} {words[number]}", 1), Candidate(words[number + 1], 0)))
        for number in range(2, 30)
    ]
    write_jsonl(data, tmp_path / "data.jsonl")
    source = {"source": "data.jsonl"}
    content = {
        "kind": "study",
        "base": {
            "model": {"encoder": str(encoder_folder), "layers": 1, "max_length": 16},
            "train": source,
            "dev": source,
            "training": {"epochs": 1},
        },
        "variants": {"slow": {}, "fast": {"training.learning_rate": 1e-3}},
        "test": {"dev": source},
    }
    return lambda output: parse_recipe({**content, "output": output}, "recipe")


def test_a_study_has_the_same_results_if_its_members_train_in_parallel(tmp_path, study, monkeypatch):
    from cascada.scale.study import run_study_on_ray
    from cascada.training.study import run_study

    monkeypatch.chdir(tmp_path)  # paths in the recipe are relative
    parallel, alone = run_study_on_ray(study("parallel")), run_study(study("alone"))
    assert parallel["rows"] == alone["rows"]
    assert [row["variant"] for row in parallel["rows"]] == ["slow", "fast"]
    for name in ("slow-seed1", "fast-seed1"):
        weights = [(tmp_path / folder / name / "model.safetensors").read_bytes() for folder in ("parallel", "alone")]
        assert weights[0] == weights[1]


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def test_replicas_answer_as_one_server_does(tmp_path):
    from cascada.cli.serve import app_of
    from cascada.scale.serve import Replicas, application, running
    from cascada.serve import ServerSettings

    build = partial(app_of, "bm25", ServerSettings(model="bm25"))
    app = application(build, Replicas(2, 2, cpus=0.5))
    port = free_port()
    sentences = ["It rained.", "Hamlet is by Shakespeare."]
    with (
        running(app, host="127.0.0.1", port=port, every_node=False),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http,
    ):
        asked = {"question": "who wrote hamlet?", "candidates": sentences}
        answers = [http.post("/v1/rank", json=asked) for _ in range(20)]
        assert {answer.status_code for answer in answers} == {200}
        assert http.post("/v1/rank", content="{", headers={"content-type": "application/json"}).status_code == 400
    expected = Ranker.load("bm25").rank("who wrote hamlet?", sentences).to_dict()["items"]
    for answer in answers:
        assert [item["index"] for item in answer.json()["items"]] == [item["index"] for item in expected]
