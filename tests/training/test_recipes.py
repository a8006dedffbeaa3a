import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cascada.core.errors import CascadaError
from cascada.data import Candidate, Group, load, write_jsonl
from cascada.training.recipes import read_recipe, train_recipe
from cascada.training.study import StudyRecipe, members

FOLDER = Path(__file__).parents[2] / "recipes"
RECIPES = [*sorted(FOLDER.glob("*/*.yaml")), FOLDER / "own-data.yaml"]
LEAST = {"output": "run", "model": {"encoder": "e"}, "train": {"source": "a.jsonl"}, "dev": {"source": "b.jsonl"}}


@pytest.fixture
def read(tmp_path):
    """The recipe made of `LEAST` and more YAML, read with `--set` changes."""

    def reader(more="", changes=None):
        path = tmp_path / "recipe.yaml"
        path.write_text(yaml.safe_dump(LEAST) + more)
        return read_recipe(path, changes)

    return reader


@pytest.fixture
def mistake(read):
    def sentence(*args):
        with pytest.raises(CascadaError) as caught:
            read(*args)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return sentence


def test_settings_have_defaults(read):
    assert read() == train_recipe().model_validate(LEAST)
    assert read().training.batch.by == "tokens"


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_recipes_that_come_with_cascada_can_be_read(path):
    recipe = read_recipe(path)
    if isinstance(recipe, StudyRecipe):
        assert len(list(members(recipe))) == len(recipe.variants) * len(recipe.seeds)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("trainin: {}", "unknown key trainin; did you mean training?"),
        ("training: {epoch: 2}", "unknown key training.epoch; did you mean epochs?"),
        ("training: {batch: {colour: 2}}", "unknown key training.batch.colour."),
        ("training: {epochs: 0}", "training.epochs is 0: input should be greater than or equal to 1."),
        ("training: {epochs: 2.5}", "training.epochs is 2.5: input should be a valid integer"),
        ("training: {epochs: yes}", "training.epochs is True: no setting is true or false."),
        ("training: {epochs: null}", "training.epochs is None: input should be a valid integer."),
        ("training: {learning_rate: .inf}", "training.learning_rate is inf: input should be a finite number."),
        ("training: {seed: 4294967296}", "training.seed is 4294967296: input should be less than 4294967296."),
        ("training: {batch: {size: many}}", "training.batch.size is 'many': input should be a valid integer"),
        (
            "training: {batch: {by: words}}",
            "by is 'words': input should be 'tokens', 'questions' or 'pairs'.",
        ),
        ("training: {batch: 3}", "training.batch is 3: it should be a group of settings."),
        ("training:", "training is None: it should be a group of settings."),
        ("training: {positive_weight: heavy}", "or input should be 'balanced'."),
        ("training: {positive_weight: -1}", "training.positive_weight is -1: input should be greater than 0"),
        ("training: {schedule: triangular, warmup: 0}", "training: the triangular schedule needs a warmup above 0."),
        ("kind: tune", "kind is 'tune'; there are train, tanda, study, reader."),
        ("1: 2", "keys should be strings."),
    ],
)
def test_a_mistake_is_reported_by_its_key(mistake, more, said):
    assert said in mistake(more)


@pytest.mark.parametrize("key", ["output", "model", "train", "dev"])
def test_a_missing_key_is_named(tmp_path, key):
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump({name: value for name, value in LEAST.items() if name != key}))
    with pytest.raises(CascadaError, match=f"recipe.yaml: {key} is missing"):
        read_recipe(path)


def test_a_number_that_yaml_takes_for_text_is_still_a_number(read):
    assert yaml.safe_load("1e-4") == "1e-4"
    assert read("training: {learning_rate: 1e-4}").training.learning_rate == 1e-4


def test_settings_are_changed_by_dotted_keys(read):
    changes = {"training.batch.size": "7", "model.layers": "3", "dev.mode": "clean", "training.learning_rate": "1e-4"}
    recipe = read("training:\n", changes)
    assert (recipe.training.batch.size, recipe.model.layers, recipe.dev.mode) == (7, 3, "clean")
    assert recipe.training.learning_rate == 1e-4


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("training.epoch", "2", "unknown key training.epoch"),
        ("model.encoder.size", "2", "--set model.encoder.size: model.encoder is not a group of settings."),
        ("training.epochs", "[", "--set training.epochs: '[' is not YAML: "),
        ("training.epochs", "", "training.epochs is None"),
    ],
)
def test_a_change_is_checked_like_the_recipe(mistake, key, value, said):
    assert said in mistake("", {key: value})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("output: [", "is not YAML: expected the node content, but found '<stream end>' (line 1, column 10)."),
        ("a: b: c", "is not YAML: mapping values are not allowed here (line 1, column 5)."),
        ("x: !!python/object/apply:os.getcwd []", "is not YAML: could not determine a constructor"),
        ("- output", "is not a recipe: a recipe is a mapping"),
        ("", "is not a recipe: a recipe is a mapping"),
    ],
)
def test_a_file_that_is_not_a_recipe(tmp_path, text, said):
    (tmp_path / "recipe.yaml").write_text(text)
    with pytest.raises(CascadaError) as caught:
        read_recipe(tmp_path / "recipe.yaml")
    assert said in str(caught.value)


def test_a_file_that_does_not_exist(tmp_path):
    with pytest.raises(CascadaError, match="cannot be read: No such file or directory"):
        read_recipe(tmp_path / "recipe.yaml")


def test_settings_do_not_change_once_read(read):
    with pytest.raises(ValueError, match="frozen"):
        read().training.epochs = 5


def test_a_mistake_is_reported_without_importing_torch(tmp_path):
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump({**LEAST, "training": {"epochs": -1}}))
    script = """
import sys
from cascada.cli.main import main
sys.argv = ["cascada", "train", "recipe.yaml"]
try:
    main()
finally:
    print("torch" in sys.modules, "transformers" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout.split()) == (2, ["False", "False"])
    assert done.stderr.splitlines() == [
        "cascada: recipe.yaml: training.epochs is -1: input should be greater than or equal to 1."
    ]
    assert not (tmp_path / "run").exists()


def outputs_in(node):
    """Every part of a recipe that names its own output folder."""
    if isinstance(node, dict):
        if isinstance(node.get("output"), str):
            yield node
        node = list(node.values())
    for value in node if isinstance(node, list) else ():
        yield from outputs_in(value)


def test_recipes_with_the_same_output_folder_have_the_same_settings():
    first = {}
    for path in RECIPES:
        for part in outputs_in(yaml.safe_load(path.read_text(encoding="utf-8"))):
            settings, owner = first.setdefault(part["output"], (part, path))
            assert part == settings, f"{path} and {owner} write {part['output']} with different settings"


def test_the_scores_of_teachers_are_added_to_every_candidate(tmp_path):
    candidates = (Candidate("Paris is in France", 1), Candidate("Rome is in Italy", 0), Candidate("It rains", 0))
    groups = [Group(f"where is Paris {number}?", candidates, str(number)) for number in range(4)]
    write_jsonl(groups, tmp_path / "lists.jsonl")
    arguments = [tmp_path / "lists.jsonl", tmp_path / "scored.jsonl", "--questions", "2", "bm25=1", "bm25=0.5"]
    subprocess.run([sys.executable, FOLDER / "scores.py", *arguments], check=True, timeout=120)
    scored = load(str(tmp_path / "scored.jsonl"), mode="raw")
    assert len(scored) == 2
    assert all(max(group.candidates, key=lambda own: own.score).text == "Paris is in France" for group in scored)
