"""A child process answers, or the reason is reported."""

import sys

import pytest

from cascada.bench.process import Child, ChildFailed, missing, once


def answer_of(code, timeout=300.0):
    return once(sys.executable, "-c", code, timeout=timeout)


def test_a_child_answers_line_by_line():
    echo = "import sys\nfor line in sys.stdin:\n    print(line.strip(), flush=True)"
    child = Child(sys.executable, "-c", echo, timeout=300)
    try:
        assert [child.ask({"n": n}) for n in (1, 2)] == [{"n": 1}, {"n": 2}]
    finally:
        child.close()


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "died by SIGILL"),
        ("raise ValueError('the graph is torn')", "ValueError: the graph is torn"),
        ("raise SystemExit(3)", "ended with exit code 3"),
    ],
    ids=["crash", "error", "end"],
)
def test_a_child_that_gives_no_answer_says_why(code, sentence):
    with pytest.raises(ChildFailed) as failure:
        answer_of(code)
    assert str(failure.value) == sentence


def test_a_child_that_takes_too_long_is_killed():
    with pytest.raises(ChildFailed, match=r"no answer in 0\.3 seconds"):
        answer_of("import time; time.sleep(3600)", timeout=0.3)


def test_the_first_missing_module_is_named():
    assert missing(sys.executable, ("json", "numpy")) is None
    assert missing(sys.executable, ("json", "no_such_module")) == "no_such_module"
    assert missing(sys.executable, ("no_such_package.part",)) == "no_such_package"
