"""Variants of a recipe over seeds, measured and compared."""

import json
import shutil

import pytest

from cascada.core.errors import CascadaError
from cascada.core.folder import read_shape
from cascada.core.probe import can_run
from cascada.data import load, qrels
from cascada.metrics import evaluate
from cascada.ranking import Ranker
from cascada.ranking.inputs import RankOptions
from cascada.ranking.plan_file import write_plan
from cascada.ranking.runs import RunCosts, run_of
from cascada.systems.cascade.folder import save, with_exits
from cascada.training import study_report as report
from cascada.training.recipes import parse_recipe
from cascada.training.study import measure, members, run_study, sequenced
from cascada.training.tanda import steps


@pytest.fixture
def content(content_in, tmp_path, data):
    base = content_in(tmp_path, epochs=1)
    base["watch"] = base["dev"]
    return {
        "kind": "study",
        "output": str(tmp_path / "study"),
        "base": base,
        "variants": {"clean labels": {}, "half flipped": {"train.noise": 0.5, "training.epochs": 2}},
        "seeds": [1, 2],
        "test": {"dev": {"source": str(data / "dev.jsonl")}},
        "against": "clean labels",
    }


def study(content, **changes):
    return parse_recipe({**content, **changes}, "recipe")


def test_members_are_every_variant_with_every_seed(content):
    found = [
        (member.variant, member.seed, member.recipe.training.seed, member.recipe.train.noise)
        for member in members(study(content))
    ]
    assert found == [
        ("clean labels", 1, 1, 0),
        ("half flipped", 1, 1, 0.5),
        ("clean labels", 2, 2, 0),
        ("half flipped", 2, 2, 0.5),
    ]
    assert len({member.recipe.output for member in members(study(content))}) == 4


def test_a_study_measures_every_member_and_compares(content, tmp_path):
    results = run_study(study(content))
    clean, flipped = results["rows"]
    assert (clean["variant"], flipped["variant"]) == ("clean labels", "half flipped")
    assert len(clean["MAP"]["seeds"]) == 2
    assert clean["MAP"]["mean"] == pytest.approx(sum(clean["MAP"]["seeds"]) / 2)
    assert "against" not in clean
    difference = flipped["MAP"]["mean"] - clean["MAP"]["mean"]
    assert flipped["against"]["difference"] == pytest.approx(difference)
    assert json.loads((tmp_path / "study" / "results.json").read_text()) == results
    table = (tmp_path / "study" / "table.md").read_text()
    assert f"{clean['MAP']['mean']:.4f} ± {clean['MAP']['std']:.4f}" in table
    assert (tmp_path / "study" / "epochs.png").read_bytes().startswith(b"\x89PNG")


def test_each_target_has_a_curve_of_its_own(content, tmp_path, monkeypatch):
    for name, value in (("one", 0.5), ("two", 0.75)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"dev": [{"epoch": 1, "watch_MAP": value}]}))
    drawn = {}
    monkeypatch.setattr(report, "draw", lambda curves, path: drawn.update(curves))
    histories = {("TANDA", name): [tmp_path / f"{name}.json"] for name in ("one", "two")}
    report.write_report(study(content), [], histories)
    assert drawn == {"TANDA, one": [[(1, 0.5)]], "TANDA, two": [[(1, 0.75)]]}


def test_adding_a_seed_trains_only_what_is_missing(content, tmp_path):
    run_study(study(content, seeds=[1]))
    written_at = {path: path.stat().st_mtime_ns for path in (tmp_path / "study").glob("*/model.safetensors")}
    assert len(written_at) == 2
    run_study(study(content))
    assert {path: path.stat().st_mtime_ns for path in written_at} == written_at
    assert len(list((tmp_path / "study").glob("*/model.safetensors"))) == 4


def test_the_seed_of_a_tanda_base_varies_the_adapt_step_and_not_the_transfer(content, tmp_path):
    base = content["base"]
    target = {"train": base["train"], "dev": base["dev"], "adapt": {"epochs": 1}, "finetune": {"epochs": 2}}
    tanda = {
        "kind": "tanda",
        "model": base["model"],
        "transfer": {"train": base["train"], "training": base["training"]},
        "targets": {"dev": target},
    }
    for member in members(study(content, base=tanda, variants={"TANDA": {}, "FT": {"method": "target"}})):
        own = member.recipe.targets["dev"]
        assert own.adapt.seed == own.finetune.seed == member.seed
        assert member.recipe.transfer.training.seed == 1


def test_each_seed_can_have_a_transfer_step_of_its_own(content, tmp_path):
    base = content["base"]
    tanda = {
        "kind": "tanda",
        "model": base["model"],
        "transfer": {"output": "kept", "train": base["train"], "training": {"seed": 7}},
        "targets": {"dev": {"train": base["train"], "dev": base["dev"]}},
    }
    variants = {"TANDA": {}, "other": {"transfer.output": "another"}}
    found = [
        (member.recipe.transfer.output, member.recipe.transfer.training.seed)
        for member in members(study(content, base=tanda, variants=variants, transfer="each seed", against=None))
    ]
    assert found == [("kept-seed1", 1), ("another-seed1", 1), ("kept-seed2", 2), ("another-seed2", 2)]


def test_a_transfer_alone_is_one_run_however_many_seeds_there_are(content, tmp_path):
    base = content["base"]
    tanda = {
        "kind": "tanda",
        "model": base["model"],
        "transfer": {"output": str(tmp_path / "kept"), "train": base["train"], "training": base["training"]},
        "targets": {"dev": {"train": base["train"], "dev": base["dev"]}},
    }
    only = study(content, base=tanda, variants={"transfer only": {"method": "transfer"}}, against=None)
    (row,) = run_study(only)["rows"]
    assert len(row["MAP"]["seeds"]) == 1
    assert row["MAP"]["std"] is None


@pytest.mark.parametrize("variant", [{"method": "target"}, {"method": "union", "targets.dev.finetune.epochs": 2}])
def test_fine_tuning_gets_every_seed_whether_its_settings_are_the_transfers_or_the_variants(content, variant):
    base = content["base"]
    tanda = {
        "kind": "tanda",
        "model": base["model"],
        "transfer": {"train": base["train"], "training": {**base["training"], "epochs": 2}},
        "targets": {"dev": {"train": base["train"], "dev": base["dev"]}},
    }
    found = [
        step.training
        for member in members(study(content, base=tanda, variants={"FT": variant}, against=None))
        for step in steps(member.recipe)
    ]
    assert [(training.seed, training.epochs) for training in found] == [(1, 2), (2, 2)]


def test_rows_with_drops_are_what_ranking_with_drops_gives(content, cascade_folder, tmp_path, data):
    """Also those of a sequential ranker, whose models are measured first."""
    dev = str(data / "dev.jsonl")
    model = shutil.copytree(cascade_folder, tmp_path / "model")
    exits = read_shape(model)["exits"]
    uneven = [0.5, *(0.0 for _ in exits[2:])]
    recipe = study(content, drops={"half": 0.5, "first": uneven, "other length": [0.1] * 9}, exits="each")
    tests = {"dev": load(dev)}
    rows = {suffix: (evaluation, cost) for suffix, evaluation, cost in measure(recipe, model, "dev", tests)}
    assert list(rows) == [*(f", exit {exit}" for exit in exits), ", half", ", first"]
    for name, drop in ((", half", "0.5"), (", first", ",".join(map(str, uneven)))):
        expected = evaluate_command(str(model), dev, drop)
        assert rows[name][0].mean["MAP"] == pytest.approx(expected["MAP"])
        assert rows[name][1] == pytest.approx(expected["relative_cost"])
    small, large = (at_exit(model, exit, tmp_path) for exit in (exits[0], exits[-1]))
    recipe = study(
        content, variants={"S": {}, "L": {}}, against=None, sequences={"SR": ["S", "L"]}, drops={"half": 0.5}
    )
    trained = {("S", "dev", 1): small, ("L", "dev", 1): large}
    (row,) = sequenced(recipe, trained, tests)
    expected = evaluate_command(f"{small}+{large}", dev, "0.5")
    assert (row.row, row.seed) == ("SR, half", 1)
    assert row.evaluation.mean["MAP"] == pytest.approx(expected["MAP"])
    assert row.cost == pytest.approx(expected["relative_cost"])


def at_exit(model, exit, folder):
    """The ranker that ends at an exit."""
    output = folder / f"exit-{exit}"
    save(with_exits(model, (exit,)), output, tokenizer=model, card="")
    return output


def evaluate_command(model, dev, drop):
    ratios = [float(ratio) for ratio in drop.split(",")]
    costs = RunCosts()
    options = RankOptions(drop=ratios if len(ratios) > 1 else ratios[0])
    groups = load(dev)
    run = run_of(Ranker.load(model), groups, options, on_ranking=costs.add)
    return {**evaluate(run, qrels(groups), ("MAP",)).mean, **costs.means()}


def test_what_a_study_measured_can_be_kept_after_every_run(content, tmp_path):
    run_study(study(content, seeds=[1]))
    kept = json.loads((tmp_path / "study" / "measured.json").read_text())
    assert [(own["row"], own["test"], own["seed"]) for own in kept["results"]] == [
        ("clean labels", "dev", 1),
        ("half flipped", "dev", 1),
    ]
    for own in kept["results"]:
        assert len(own["by_question"]) == own["questions"]
        assert sum(own["by_question"]) / own["questions"] / 10_000 == pytest.approx(own["values"]["MAP"], abs=1e-4)


@pytest.fixture
def measured_by(content, cascade_folder, tmp_path, data):
    """`measured_by(questions)`: the evaluation of a trained cascade in a study, on n questions."""
    model = shutil.copytree(cascade_folder, tmp_path / "model")

    def by(questions=None, **changes):
        tests = {"dev": load(str(data / "dev.jsonl"), questions=questions)}
        ((_, evaluation, _),) = measure(study(content, **changes), model, "dev", tests)
        return evaluation

    by.model = model
    return by


def test_a_changed_test_set_is_ranked_again(measured_by):
    assert measured_by(questions=5).questions == 5
    again = measured_by()
    assert again.questions > 5
    (measured_by.model / "test-dev.trec").unlink()
    assert measured_by() == again


@pytest.mark.skipif(not can_run("torch bfloat16"), reason="bfloat16 needs a processor that can multiply in it")
def test_test_sets_can_be_measured_in_bfloat16(measured_by):
    measured_by()
    run = measured_by.model / "test-dev.trec"
    whole = run.read_text()
    run.unlink()
    measured_by(precision="bfloat16")
    assert run.read_text() != whole


def test_a_saved_drop_plan_has_no_effect_on_a_study(measured_by):
    before = measured_by()
    (measured_by.model / "test-dev.trec").unlink()
    write_plan(measured_by.model, (1,), (2, 4), {})
    assert measured_by() == before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"against": "nobody"}, "nobody"),
        ({"against": None, "variants": {"α = 0": {}, "β = 0": {}}}, "α = 0 and β = 0 would share a folder"),
        (
            {"against": None, "variants": {"x": {"training.epoch": 1}}},
            "variant x: unknown key training.epoch; did you mean epochs?",
        ),
        ({"base": {"kind": ["train"]}}, "kind is ['train']; there are train"),
        ({"base": {"kind": "tanda", "transfer": "runs/x", "targets": ["a"]}}, "variant clean labels: "),
        (
            {"readings": {"read": {"of": "clean labels", "level": "point"}}},
            "is not a compare-aggregate network",
        ),
    ],
)
def test_a_mistake_in_a_study_is_one_sentence(content, changes, said):
    with pytest.raises(CascadaError) as caught:
        run_study(study(content, **changes))
    assert said in str(caught.value)


def test_a_study_trains_rankers_only(content, tmp_path):
    reader = {"kind": "reader", "model": {"encoder": "e"}, "train": {"source": "a"}, "dev": {"source": "b"}}
    with pytest.raises(CascadaError, match="kind is reader; a study trains rankers"):
        run_study(study(content, base=reader, variants={"x": {}}, against=None))


def test_a_target_without_a_test_set_is_reported_before_anything_is_trained(content, tmp_path):
    base = content["base"]
    target = {"train": base["train"], "dev": base["dev"]}
    tanda = {
        "kind": "tanda", "model": base["model"], "transfer": {"train": base["train"]}, "targets": {"other": target},
    }  # fmt: skip
    with pytest.raises(CascadaError, match="test has no other, which is a target of the base"):
        run_study(study(content, base=tanda, variants={"TANDA": {}}, against=None))
    assert not (tmp_path / "study").exists()


def test_each_exit_of_a_cascade_has_its_row_and_is_compared_with_the_same_exit(content, tmp_path):
    variants = {"one": {}, "other": {"training.learning_rate": 1e-4}}
    cascade = study(content, variants=variants, against="one", exits="each", seeds=[1])
    cascade.base["model"] |= {"layers": 2, "exits": [1, 2], "head": "mean"}
    rows = {row["variant"]: row for row in run_study(cascade)["rows"]}
    assert list(rows) == ["one, exit 1", "one, exit 2", "other, exit 1", "other, exit 2"]
    for exit in (1, 2):
        one, other = rows[f"one, exit {exit}"], rows[f"other, exit {exit}"]
        assert "against" not in one
        difference = other["MAP"]["mean"] - one["MAP"]["mean"]
        assert other["against"]["difference"] == pytest.approx(difference)
    last = max(
        json.loads((tmp_path / "study" / "one-seed1" / "history.json").read_text())["dev"], key=lambda r: r["MAP"]
    )
    assert rows["one, exit 2"]["MAP"]["mean"] == pytest.approx(last["MAP"])
    assert rows["one, exit 1"]["MAP"]["mean"] == pytest.approx(last["MAP@1"])
