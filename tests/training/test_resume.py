"""A run that was killed, or whose disk was full, ends with the weights of an uninterrupted run."""

import resource
import shutil
import sys
from contextlib import contextmanager

import pytest
from trained import history, weights

from cascada.cli.main import main
from cascada.core.errors import CascadaError
from cascada.training import single_run, trainer
from cascada.training.run_folder import last_complete
from cascada.training.single_run import train_model

LONG = {"epochs": 3, "batch": {"by": "tokens", "size": 100}, "checkpoint_every": 3, "evaluations_per_epoch": 2}


def without_times(history):
    return {part: [{**row, "seconds": None} for row in rows] for part, rows in history.items()}


def test_a_run_killed_twice_ends_with_the_weights_of_an_uninterrupted_one(recipe, recipe_file, kill_at, tmp_path):
    folder = tmp_path / "run"
    kill_at(5, "run", "train", recipe_file("run", **LONG))  # in the first epoch, two updates after a checkpoint
    kill_at(29, "run", "train", recipe_file("run", **LONG))  # in the second, between evaluations
    assert not (folder / "cascada.json").exists()
    kept = last_complete(folder / "checkpoints")
    assert kept.name == "checkpoint-27"
    half = shutil.copytree(kept, folder / "checkpoints" / "checkpoint-9999")
    (half / "complete").unlink()
    (half / "optimizer.pt").write_bytes(b"PK")

    train_model(recipe("run", **LONG))
    whole = train_model(recipe("whole", **LONG))

    assert weights(folder) == weights(whole)
    assert without_times(history(folder)) == without_times(history(whole))
    assert not (folder / "checkpoints").exists()


@contextmanager
def files_no_longer_than(size):
    """Make the operating system fail to write longer files, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def interrupted(monkeypatch):
    """Interrupt a run just after one of its functions, or instead of it."""

    @contextmanager
    def at(module, name, *, instead=False):
        function = getattr(module, name)

        def stop(*args, **options):
            if not instead:
                function(*args, **options)
            raise KeyboardInterrupt

        monkeypatch.setattr(module, name, stop)
        with pytest.raises(KeyboardInterrupt):
            yield
        monkeypatch.setattr(module, name, function)

    return at


def test_a_full_disk_is_reported_in_a_sentence_and_the_previous_checkpoint_is_kept(
    recipe, recipe_file, tmp_path, monkeypatch, capsys, interrupted
):
    settings = {"checkpoint_every": 3}
    with interrupted(trainer, "mark_complete"):
        train_model(recipe("run", **settings))
    kept = last_complete(tmp_path / "run" / "checkpoints")
    assert kept

    monkeypatch.setattr(sys, "argv", ["cascada", "train", str(recipe_file("run", **settings))])
    with files_no_longer_than(100_000), pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err.splitlines()[-1]
    assert ended.value.code == 2
    assert said.startswith(f"cascada: The checkpoint {kept.parent}/checkpoint-")
    assert said.endswith("the same command resumes from the one before it.")
    assert list(kept.parent.iterdir()) == [kept]

    assert weights(train_model(recipe("run", **settings))) == weights(train_model(recipe("whole", **settings)))


def test_a_disk_that_is_full_at_the_very_end_loses_nothing(recipe, interrupted):
    with interrupted(single_run, "finish", instead=True):
        train_model(recipe("run"))
    with files_no_longer_than(100_000), pytest.raises(CascadaError, match="trained model could not be written"):
        train_model(recipe("run"))
    assert weights(train_model(recipe("run"))) == weights(train_model(recipe("whole")))


def test_a_run_killed_after_it_stopped_early_trains_no_further(recipe, interrupted):
    settings = {"epochs": 30, "learning_rate": 1e-2, "patience": 1, "batch": {"by": "pairs", "size": 200}}
    with interrupted(single_run, "finish", instead=True):
        train_model(recipe("run", **settings))
    killed, whole = train_model(recipe("run", **settings)), train_model(recipe("whole", **settings))
    assert weights(killed) == weights(whole)
    assert without_times(history(killed)) == without_times(history(whole))


def test_a_run_moved_while_it_was_stopped_still_knows_its_best_checkpoint(worsening, interrupted, tmp_path):
    with interrupted(single_run, "finish", instead=True):
        train_model(worsening("run"))
    (tmp_path / "run").rename(tmp_path / "moved")
    moved, whole = train_model(worsening("moved")), train_model(worsening("whole"))
    values = [row["MAP"] for row in history(moved)["dev"]]
    assert values[-1] < max(values), "its best checkpoint is not its last"
    assert weights(moved) == weights(whole)


def test_a_run_resumes_only_with_the_number_of_processes_it_was_started_with(recipe, interrupted, tmp_path):
    with interrupted(trainer, "mark_complete"):
        train_model(recipe())
    (last_complete(tmp_path / "run" / "checkpoints") / "complete").write_text("4")
    with pytest.raises(CascadaError, match="started with 4 processes and cannot resume with 1"):
        train_model(recipe())
