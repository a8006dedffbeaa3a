"""A run that is killed, or whose disk is full, reaches what it would have reached."""

import resource
import shutil
import sys
from contextlib import contextmanager

import pytest
from trained import history, weights

from cascada.cli.main import main
from cascada.core.errors import CascadaError
from cascada.training import run, trainer
from cascada.training.run import train
from cascada.training.run_folder import claimed, last_complete, mark_complete

LONG = {"epochs": 3, "batch": {"by": "tokens", "size": 100}, "checkpoint_every": 3, "evaluations_per_epoch": 2}


def without_times(found):
    return {part: [{**row, "seconds": None} for row in rows] for part, rows in found.items()}


def test_a_run_killed_twice_ends_with_the_weights_of_one_never_killed(recipe, recipe_file, kill_at, tmp_path):
    folder = tmp_path / "run"
    kill_at(5, "run", "train", recipe_file("run", **LONG))  # in the first epoch, two updates after a checkpoint
    kill_at(29, "run", "train", recipe_file("run", **LONG))  # in the second, between evaluations
    assert not (folder / "cascada.json").exists()
    kept = last_complete(folder / "checkpoints")
    assert kept.name == "checkpoint-27"
    half = shutil.copytree(kept, folder / "checkpoints" / "checkpoint-9999")
    (half / "complete").unlink()
    (half / "optimizer.pt").write_bytes(b"PK")

    train(recipe("run", **LONG))
    whole = train(recipe("whole", **LONG))

    assert weights(folder) == weights(whole)
    assert without_times(history(folder)) == without_times(history(whole))
    assert not (folder / "checkpoints").exists()


@contextmanager
def files_no_longer_than(size):
    """The operating system refuses to write longer files, as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def interrupted(monkeypatch):
    """Break a run off, just after or instead of a function of it."""

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


def test_a_full_disk_is_told_in_a_sentence_and_the_checkpoint_before_is_kept(
    recipe, recipe_file, tmp_path, monkeypatch, capsys, interrupted
):
    settings = {"checkpoint_every": 3}
    with interrupted(trainer, "mark_complete"):
        train(recipe("run", **settings))
    kept = last_complete(tmp_path / "run" / "checkpoints")
    assert kept

    monkeypatch.setattr(sys, "argv", ["cascada", "train", str(recipe_file("run", **settings))])
    with files_no_longer_than(100_000), pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err.splitlines()[-1]
    assert ended.value.code == 2
    assert said.startswith(f"cascada: The checkpoint {kept.parent}/checkpoint-")
    assert said.endswith("the same command goes on from the one before it.")
    assert list(kept.parent.iterdir()) == [kept]

    assert weights(train(recipe("run", **settings))) == weights(train(recipe("whole", **settings)))


def test_a_disk_that_is_full_at_the_very_end_loses_nothing(recipe, interrupted):
    with interrupted(run, "finish", instead=True):
        train(recipe("run"))
    with files_no_longer_than(100_000), pytest.raises(CascadaError, match="trained model could not be written"):
        train(recipe("run"))
    assert weights(train(recipe("run"))) == weights(train(recipe("whole")))


def test_a_run_killed_after_it_had_stopped_early_does_not_go_on(recipe, interrupted):
    settings = {"epochs": 30, "learning_rate": 1e-2, "patience": 1, "batch": {"by": "pairs", "size": 200}}
    with interrupted(run, "finish", instead=True):
        train(recipe("run", **settings))
    killed, whole = train(recipe("run", **settings)), train(recipe("whole", **settings))
    assert weights(killed) == weights(whole)
    assert without_times(history(killed)) == without_times(history(whole))


def test_a_run_moved_while_it_was_stopped_still_knows_its_best_checkpoint(worsening, interrupted, tmp_path):
    with interrupted(run, "finish", instead=True):
        train(worsening("run"))
    (tmp_path / "run").rename(tmp_path / "moved")
    moved, whole = train(worsening("moved")), train(worsening("whole"))
    values = [row["MAP"] for row in history(moved)["dev"]]
    assert values[-1] < max(values), "its best checkpoint is not its last"
    assert weights(moved) == weights(whole)


def test_a_run_goes_on_with_as_many_processes_as_it_began_with(recipe, interrupted, tmp_path):
    with interrupted(trainer, "mark_complete"):
        train(recipe())
    (last_complete(tmp_path / "run" / "checkpoints") / "complete").write_text("4")
    with pytest.raises(CascadaError, match="started with 4 processes and cannot go on with 1"):
        train(recipe())


def test_two_runs_do_not_train_in_one_folder_at_once(recipe, tmp_path):
    with claimed(tmp_path / "run", recipe()), pytest.raises(CascadaError, match="Another process is training in"):
        train(recipe())
    assert train(recipe())


def test_the_newest_complete_checkpoint_counts_and_the_best_is_kept(tmp_path):
    assert last_complete(tmp_path) is None
    for update in (5, 20, 100):
        (tmp_path / f"checkpoint-{update}").mkdir()
        mark_complete(tmp_path / f"checkpoint-{update}", processes=1, best=str(tmp_path / "checkpoint-5"))
    (tmp_path / "checkpoint-200").mkdir()
    assert last_complete(tmp_path) == tmp_path / "checkpoint-100"
    assert {path.name for path in tmp_path.iterdir()} == {"checkpoint-5", "checkpoint-100"}
