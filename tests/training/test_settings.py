"""Each kind of model accepts its own settings, and rejects those of other kinds by name."""

import functools
import itertools

import pytest

from cascada.core.errors import CascadaError
from cascada.core.folder import READER
from cascada.systems.registry import READERS, ROOMS
from cascada.training.recipe_errors import field_at, group_at
from cascada.training.recipes import parse_recipe, run_recipes, set_key

KINDS = [*ROOMS, *READERS]
REQUIRED = {"encoder": "e", "levels": "CA(point)", "model": "m", "source": "s"}
"""A value for each setting that has no default."""


@functools.cache
def recipes():
    return run_recipes()


def keys_in(recipe, *path):
    """All keys of a group of settings and of the groups in it, as paths."""
    for name in group_at(recipe, path).model_fields:
        yield (*path, name)
        if group_at(recipe, (*path, name)):
            yield from keys_in(recipe, *path, name)


@functools.cache
def all_keys():
    """The keys below `model` and `training` that some kind of model has."""
    groups = itertools.product(recipes().values(), ("model", "training"))
    keys = {key: None for recipe, group in groups for key in keys_in(recipe, group)}
    return [key for key in keys if key != ("model", "kind")]


@functools.cache
def knowing(key):
    """The kinds of models that have a key."""
    return tuple(kind for kind in KINDS if field_at(recipes()[kind], key))


def required_values(recipe, *path):
    fields = group_at(recipe, path).model_fields
    return {name: REQUIRED[name] for name, field in fields.items() if field.is_required() and name in REQUIRED}


def smallest(kind):
    """The smallest recipe of a kind, as a mapping."""
    recipe = recipes()[kind]
    names = {"kind": READER} if kind in READERS else {}
    model = {**({} if kind in READERS else {"kind": kind}), **required_values(recipe, "model")}
    return {**names, "output": "run", "model": model, "train": {"source": "a"}, "dev": {"source": "b"}}


def with_key(kind, key):
    """The smallest recipe of a kind with one more key, at its default or at an example value."""
    content, owner = smallest(kind), recipes()[kind if kind in knowing(key) else knowing(key)[0]]
    for depth in range(2, len(key)):  # a group on the way may need values of its own
        for name, value in required_values(owner, *key[:depth]).items():
            set_key(content, ".".join((*key[:depth], name)), value)
    field = field_at(owner, key)
    value = REQUIRED[key[-1]] if field.is_required() else field.get_default(call_default_factory=True)
    set_key(content, ".".join(key), value.model_dump() if hasattr(value, "model_dump") else value)
    return content


def test_there_are_keys_for_all_one_and_some_kinds():
    assert knowing(("training", "epochs")) == knowing(("training", "batch", "by")) == tuple(KINDS)
    assert knowing(("training", "joint_rate")) == knowing(("training", "batch", "others")) == ("decoupled",)
    assert knowing(("training", "exits", "sample")) == ("transformer", "decoupled")
    assert knowing(("training", "teacher", "share")) == tuple(ROOMS)
    assert knowing(("model", "overlap")) == ("reader",)


@pytest.mark.parametrize("key", all_keys(), ids=".".join)
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_accepts_a_key_or_rejects_it_by_name(kind, key):
    content = with_key(kind, key)
    if kind in knowing(key):
        assert parse_recipe(content, "recipe").output == "run"
        return
    unknown = next(key[:depth] for depth in range(1, len(key) + 1) if kind not in knowing(key[:depth]))
    with pytest.raises(CascadaError) as caught:
        parse_recipe(content, "recipe")
    sentence = str(caught.value)
    assert sentence.startswith(f"recipe: unknown key {'.'.join(unknown)}; it is for ")
    assert {other for other in KINDS if other in sentence.partition("it is for")[2]} == set(knowing(unknown))


def test_a_tanda_recipe_rejects_the_keys_of_other_kinds_too():
    model, data = {"encoder": "e"}, {"source": "a"}
    targets = {"wikiqa": {"train": data, "dev": data, "adapt": {"joint_rate": 1e-3}}}
    content = {"kind": "tanda", "output": "run", "model": model, "transfer": {"train": data}, "targets": targets}
    with pytest.raises(CascadaError) as caught:
        parse_recipe(content, "recipe")
    assert str(caught.value) == (
        "recipe: unknown key targets.wikiqa.adapt.joint_rate; it is for rankers of kind decoupled."
    )
