"""`cascada data asnq` and `asnq-split`, as a user meets them."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cascada.cli.data import app
from cascada.core.errors import CascadaError
from cascada.data import read

PAGE = "<P> Lyra is small . It holds Vega . </P> <P> Vega is bright . Stars move . </P>"
COMMAND = [sys.executable, "-m", "cascada.cli.main", "data"]


def record(question, page=PAGE, long=(0, 10), short=(7, 8)):
    marked = [dict(zip(("start_token", "end_token"), span, strict=True)) for span in (long, short)]
    annotations = [{"yes_no_answer": "NONE", "long_answer": marked[0], "short_answers": marked[1:]}]
    return json.dumps({"question_text": question, "document_text": page, "annotations": annotations}) + "\n"


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "nq.jsonl"
    path.write_text(record("one") + record("two", long=(-1, -1), short=(-1, -1)) + record("three"))
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def asnq(*arguments):
    return run("asnq", *arguments, "--workers", 1)


def cells(result):
    return [line.split() for line in result.stdout.splitlines()]


def test_it_prints_the_papers_table_and_what_was_left_out(questions, tmp_path):
    result = asnq(questions, tmp_path / "train.tsv")
    assert result.exit_code == 0
    assert ["label", "in", "the", "long", "answer", "with", "the", "short", "answer", "train"] in cells(result)
    rows = [["1", "no", "no", "2"], ["2", "no", "yes", "2"], ["3", "yes", "no", "2"], ["4", "yes", "yes", "2"]]
    assert [row for row in cells(result) if row and row[0] in "1234"] == rows
    assert ["pairs", "8"] in cells(result)
    assert ["questions", "2"] in cells(result)
    assert "left out: 1 with no long answer" in result.stdout


def test_it_prints_the_same_as_json(questions, tmp_path):
    found = json.loads(asnq(questions, tmp_path / "train.tsv", "--json").stdout)
    assert (found["questions"], found["pairs"], found["positives"]) == (2, 8, 2)
    assert found["grades"] == {"1": 2, "2": 2, "3": 2, "4": 2}
    assert (found["skipped"], found["problems"]) == ({"no long answer": 1}, 0)


def test_what_it_writes_is_a_data_set_known_by_name(questions, tmp_path):
    assert asnq(questions, tmp_path / "train.tsv").exit_code == 0
    assert [group.question for group in read("asnq", root=tmp_path, split="train")] == ["one", "three"]


def test_by_default_all_usable_cores_are_used(questions, tmp_path):
    assert run("asnq", questions, tmp_path / "all.tsv").exit_code == 0
    assert asnq(questions, tmp_path / "one.tsv").exit_code == 0
    assert (tmp_path / "all.tsv").read_bytes() == (tmp_path / "one.tsv").read_bytes()


def test_bad_lines_are_named_and_the_good_ones_are_kept(questions, tmp_path):
    packed = gzip.compress(record("four").encode())
    (tmp_path / "cut.jsonl.gz").write_bytes(packed[:-9])
    questions.write_text("{\n" * 12 + questions.read_text())
    result = asnq(questions, tmp_path / "cut.jsonl.gz", tmp_path / "out.tsv", "--json")
    sentence = str(result.exception)
    assert isinstance(result.exception, CascadaError)
    assert "nq.jsonl, line 1: expected one JSON object per line" in sentence
    assert "nq.jsonl, line 10: " in sentence
    assert "… and 3 more" in sentence
    assert sentence.endswith("out.tsv holds everything else.")
    found = json.loads(result.stdout)
    assert (found["problems"], found["questions"]) == (13, len(list(read(f"asnq:{tmp_path / 'out.tsv'}"))))


def test_a_cut_off_file_is_exit_code_two_and_a_sentence(questions, tmp_path):
    packed = gzip.compress(questions.read_bytes())
    (tmp_path / "cut.jsonl.gz").write_bytes(packed[:-9])
    arguments = ["asnq", str(questions), str(tmp_path / "cut.jsonl.gz"), str(tmp_path / "out.tsv"), "--workers", "1"]
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(f"cascada: {tmp_path}/cut.jsonl.gz, line ")
    assert "Traceback" not in done.stderr
    assert [group.question for group in read(f"asnq:{tmp_path / 'out.tsv'}")][:2] == ["one", "three"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("asnq", "no.jsonl", "out.tsv"), "There is no file no.jsonl."),
        (("asnq", "nq.jsonl", "."), "The last argument is the file to write, a .tsv or .tsv.gz; . is neither."),
        (("asnq", "nq.jsonl", "more.jsonl.gz"), "a .tsv or .tsv.gz; more.jsonl.gz is neither"),
        (("asnq", ".", "out.tsv"), ". is a folder: name the files in it"),
        (("asnq-split", "dev.tsv", "out"), "Say how to split"),
        (("asnq-split", "dev.tsv", "out", "--dev", "a"), "Say how to split"),
        (("asnq-split", "dev.tsv", "out", "--dev", "a", "--test", "b", "--seed", "1"), "Say how to split"),
        (("asnq-split", "dev.tsv", "out", "--seed", "1"), "dev.tsv cannot be read: No such file"),
    ],
)
def test_a_mistake_is_one_sentence(questions, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert isinstance(result.exception, CascadaError)
    assert sentence in str(result.exception)
    assert [one.name for one in tmp_path.iterdir()] == ["nq.jsonl"]


def test_the_dev_set_is_split_by_lists_of_questions(tmp_path):
    (tmp_path / "all.tsv").write_text("a\tx\t4\nb\ty\t4\na\tz\t1\nc\tx\t2\n")
    (tmp_path / "unique.dev").write_text("a\n")
    (tmp_path / "unique.test").write_text("b\nd\n")
    lists = ("--dev", tmp_path / "unique.dev", "--test", tmp_path / "unique.test")
    found = json.loads(run("asnq-split", tmp_path / "all.tsv", tmp_path / "asnq", *lists, "--json").stdout)
    counts = {name: (one["questions"], one["pairs"]) for name, one in found.items()}
    assert counts == {"dev": (1, 2), "test": (1, 1), "unlisted": (1, 1)}
    assert found["test"]["absent"] == 1
    result = run("asnq-split", tmp_path / "all.tsv", tmp_path / "asnq", *lists)
    assert "in neither list: 1 questions, 1 pairs" in result.stdout
    assert "in the list for test but not in the data: 1 questions" in result.stdout
    assert ["label", "in", "the", "long", "answer", "with", "the", "short", "answer", "dev", "test"] in cells(result)


def test_the_dev_set_is_split_in_halves(tmp_path):
    (tmp_path / "all.tsv").write_text("".join(f"question {number}\tx\t4\n" for number in range(10)))
    found = json.loads(run("asnq-split", tmp_path / "all.tsv", tmp_path / "asnq", "--seed", 3, "--json").stdout)
    assert {name: one["questions"] for name, one in found.items()} == {"dev": 5, "test": 5, "unlisted": 0}


def children(process):
    return [int(child) for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def running(process):
    """Whether it does anything yet: one that has ended stays in the list until its new parent looks."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(condition):
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes in /proc")
def test_a_killed_run_leaves_the_old_file_and_no_processes(tmp_path):
    out, pipe = tmp_path / "out.tsv", tmp_path / "endless.jsonl"
    out.write_text("old\n")
    os.mkfifo(pipe)
    process = subprocess.Popen([*COMMAND, "asnq", str(pipe), str(out), "--workers", "2"])
    with open(pipe, "w") as feed:
        feed.write("".join(record(f"question {number}", PAGE + " x" * 2000) for number in range(40)))
        feed.flush()
        until(lambda: any(part.stat().st_size for part in tmp_path.glob(".out.tsv.*.part")))
        workers = children(process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(workers) >= 2
    assert out.read_text() == "old\n"
    until(lambda: not any(map(running, workers)))


CONVERT_AND_WEIGH = """
import resource, sys
from cascada.cli.data import app
if __name__ == "__main__":
    app(["asnq", *sys.argv[1:], "--workers", "2", "--json"], standalone_mode=False)
    with open("/proc/self/status") as status:  # its ru_maxrss would be that of the process it was forked from
        parent = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    print(parent // 1024, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def weigh(folder, pages):
    """What converting so many pages of a hundred sentences takes: (pairs, MB of the parent, MB of a worker)."""
    (folder / "weigh.py").write_text(CONVERT_AND_WEIGH)
    sentence = " ".join(f"word{number}" for number in range(10))
    page = PAGE + "".join(f" <P> Number {number} says {sentence} . </P>" for number in range(96))
    with open(folder / "nq.jsonl", "w") as file:
        file.writelines(record(f"question {number}", page) for number in range(pages))
    command = [sys.executable, "weigh.py", "nq.jsonl", "out.tsv"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    found, sizes = done.stdout.splitlines()
    return json.loads(found)["pairs"], *map(int, sizes.split())


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does")
def test_memory_stays_flat(tmp_path):
    _, small_parent, _ = weigh(tmp_path, pages=50)
    pairs, parent, worker = weigh(tmp_path, pages=1000)
    assert pairs == 100_000
    assert parent + 2 * worker < 500
    assert parent < small_parent + 10  # all pairs at once take twice that
