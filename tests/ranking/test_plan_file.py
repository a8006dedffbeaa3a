"""A tuned plan in a ranker's folder."""

import json
from decimal import Decimal

import pytest

from cascada.core.errors import CascadaError
from cascada.core.folder import PLAN_FILE
from cascada.ranking.plan import AtLeast, dropped
from cascada.ranking.plan_file import forget_plan, read_plan, write_plan

EXITS = (4, 8, 12)


@pytest.mark.parametrize(
    "plan", [(Decimal("0.29"), Decimal("0")), (40, 12), (AtLeast(Decimal("0.7"), 40), AtLeast(Decimal("0.3"), 5))]
)
def test_a_plan_comes_back_as_it_was(tmp_path, plan):
    write_plan(tmp_path, plan, EXITS, {"data": "dev"})
    assert read_plan(tmp_path, EXITS) == plan
    assert json.loads((tmp_path / PLAN_FILE).read_text())["about"] == {"data": "dev"}


def test_ratios_are_kept_as_the_decimals_that_were_written(tmp_path):
    path = write_plan(tmp_path, (Decimal("0.29"), Decimal("0.5")), EXITS, {})
    assert json.loads(path.read_text())["drop"] == ["0.29", "0.5"]


def test_a_ratio_that_was_edited_in_as_a_number_is_the_decimal_that_was_written(tmp_path):
    (tmp_path / PLAN_FILE).write_text('{"format": 1, "exits": [4, 8, 12], "drop": [0.29, 0]}')
    plan = read_plan(tmp_path, EXITS)
    assert plan is not None
    assert dropped(plan[0], 100) == 29


def test_a_folder_without_one_has_none(tmp_path):
    assert read_plan(tmp_path, EXITS) is None
    assert not forget_plan(tmp_path)


def test_it_can_be_forgotten(tmp_path):
    write_plan(tmp_path, (40, 12), EXITS, {})
    assert forget_plan(tmp_path)
    assert read_plan(tmp_path, EXITS) is None


def test_a_plan_for_other_exits_is_rejected(tmp_path):
    write_plan(tmp_path, (40, 12), EXITS, {})
    with pytest.raises(
        CascadaError, match="is for exits 4, 8, 12, but the ranker's are 4, 12: remove it with `cascada"
    ):
        read_plan(tmp_path, (4, 12))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"format": 1, "exits": 4, "drop": []}',
        '{"format": 1, "exits": [4, 8, 12]}',
        '{"format": 1, "exits": [4, 8, 12], "drop": ["0.3"]}',
        '{"format": 1, "exits": [4, 8, 12], "drop": ["0.3", "much"]}',
        '{"format": 1, "exits": [4, 8, 12], "drop": ["0.3", "NaN"]}',
        '{"format": 1, "exits": [4, 8, 12], "keep": [3, 0]}',
        '{"format": 1, "exits": [4, 8, 12], "keep": [3.5, 1]}',
    ],
)
def test_a_damaged_plan_is_one_sentence_with_a_way_out(tmp_path, content):
    (tmp_path / PLAN_FILE).write_text(content)
    with pytest.raises(CascadaError, match=r"plan\.json is damaged .*--forget") as caught:
        read_plan(tmp_path, EXITS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"format": 1, "exits": [4, 8, 12], "drop": ["0.3", "much"]}', "'much' is not a number"),
        ('{"format": 1, "exits": [4, 8, 12], "margin": ["2", null]}', "None is not a number"),
        ('{"format": 1, "exits": 4, "drop": []}', "its values are not of the types that belong there"),
        ('{"exits": [4]}', "it has no 'format'"),
        ("nothing", "it is not JSON, from line 1, column 1 on"),
    ],
)
def test_what_is_damaged_is_said_in_plain_english(tmp_path, content, why):
    (tmp_path / PLAN_FILE).write_text(content)
    with pytest.raises(CascadaError) as caught:
        read_plan(tmp_path, EXITS)
    assert f"plan.json is damaged ({why}): remove it with" in str(caught.value)


def test_another_format_is_named(tmp_path):
    (tmp_path / PLAN_FILE).write_text('{"format": 9, "exits": [4, 8], "keep": [3]}')
    with pytest.raises(CascadaError, match="has format 9"):
        read_plan(tmp_path, (4, 8))


def test_a_plan_of_both_kinds_is_not_saved(tmp_path):
    with pytest.raises(CascadaError, match="not both"):
        write_plan(tmp_path, (Decimal("0.3"), 5), EXITS, {})
