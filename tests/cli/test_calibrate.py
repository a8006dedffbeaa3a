"""`cascada calibrate`: scores become probabilities, and no order changes."""

import json
import shutil

import numpy as np
import pytest

from cascada import export
from cascada.cli.calibrate import calibrate
from cascada.core.errors import CascadaError
from cascada.data import Candidate, Group, write_jsonl
from cascada.metrics.calibration import calibration_error, fit_platt_scaling
from cascada.ranking import Ranker
from cascada.ranking.plan import margin_plan, plan_of
from cascada.ranking.plan_file import write_plan
from cascada.systems.cut import cut


@pytest.fixture
def judged(cascade_folder, words, tmp_path):
    """A file whose labels the scores of both exits foretell, as far as a tiny ranker's can."""
    rng = np.random.default_rng(3)
    ranker, groups = Ranker.load(cascade_folder), []
    for number in range(12):
        texts = [" ".join(rng.choice(words, 6)) for _ in range(20)]
        best = sorted(ranker.rank(words[number], texts, drop=0), key=lambda item: -sum(item.scores))
        right = {item.index for item in (best[:5] if number % 2 else (best[0], best[7]))}
        candidates = tuple(Candidate(text, int(index in right)) for index, text in enumerate(texts))
        groups.append(Group(words[number], candidates))
    write_jsonl(groups, tmp_path / "judged.jsonl")
    return tmp_path / "judged.jsonl", groups


def errors(ranker, groups):
    """At each exit, on the file itself."""
    labels = np.array([label > 0 for group in groups for label in group.labels])
    rankings = [ranker.rank(group.question, group.texts, drop=0) for group in groups]
    found = []
    for place in range(len(ranker.exits)):
        raw = [item.scores[place] for one in rankings for item in sorted(one, key=lambda item: item.index)]
        found.append(calibration_error(1 / (1 + np.exp(-np.array(raw))), labels))
    return found


def test_scores_become_probabilities_and_orders_stay(cascade_folder, judged, tmp_path, capsys):
    file, groups = judged
    calibrate(cascade_folder, str(file), tmp_path / "out", as_json=True)
    before, after = Ranker.load(cascade_folder), Ranker.load(tmp_path / "out")
    assert json.loads(capsys.readouterr().out)["exits"].keys() == {str(exit) for exit in before.exits}
    assert max(errors(after, groups)) < 0.07 < min(errors(before, groups))
    group = groups[0]
    orders = [[item.index for item in one.rank(group.question, group.texts, drop=0.3)] for one in (before, after)]
    assert orders[0] == orders[1]


def test_an_exports_own_scores_can_be_what_is_fitted(cascade_folder, judged, tmp_path, capsys):
    file, groups = judged
    export(cascade_folder, tmp_path / "int8")
    scores = Ranker.load(tmp_path / "int8").exit_scores((group.question, group.texts) for group in groups)
    labels = np.array([label > 0 for group in groups for label in group.labels])
    wanted = [fit_platt_scaling(row.astype(float), labels) for row in np.concatenate(list(scores), axis=1)]
    calibrate(cascade_folder, str(file), tmp_path / "out", exported=tmp_path / "int8", as_json=True)
    fitted = json.loads(capsys.readouterr().out)["exits"].values()
    assert [line["shift"] for line in fitted] == [pytest.approx(line.shift) for line in wanted]
    export(tmp_path / "out", tmp_path / "out-int8")
    assert max(errors(Ranker.load(tmp_path / "out-int8"), groups)) < 0.07


def test_an_export_with_other_exits_is_refused(cascade_folder, judged, tmp_path):
    exits = Ranker.load(cascade_folder).exits
    cut(cascade_folder, exits[-1:], tmp_path / "cut")
    with pytest.raises(CascadaError, match="is not an export of"):
        calibrate(cascade_folder, str(judged[0]), tmp_path / "out", exported=tmp_path / "cut")
    assert not (tmp_path / "out").exists()


def test_a_ranker_is_not_written_over(cascade_folder, judged, tmp_path):
    with pytest.raises(CascadaError, match="already holds a ranker"):
        calibrate(cascade_folder, str(judged[0]), cascade_folder)


def test_a_tuned_plan_stays_with_the_ranker(cascade_folder, judged, tmp_path):
    tuned = tmp_path / "tuned"
    shutil.copytree(cascade_folder, tuned)
    exits = Ranker.load(tuned).exits
    write_plan(tuned, plan_of(0.5, None, len(exits)), exits, {})
    calibrate(tuned, str(judged[0]), tmp_path / "out")
    assert Ranker.load(tmp_path / "out").plan == Ranker.load(tuned).plan != Ranker.load(cascade_folder).plan


def test_margins_that_were_tuned_drop_the_same_candidates(cascade_folder, judged, tmp_path):
    tuned = tmp_path / "tuned"
    shutil.copytree(cascade_folder, tuned)
    file, groups = judged
    before = Ranker.load(tuned)
    spread = float(np.std([item.scores[0] for item in before.rank(groups[0].question, groups[0].texts, drop=0)]))
    write_plan(tuned, margin_plan([spread] * (len(before.exits) - 1), len(before.exits)), before.exits, {"how": "so"})
    calibrate(tuned, str(file), tmp_path / "out")
    left = [
        [(item.index, item.exit) for item in Ranker.load(folder).rank(groups[0].question, groups[0].texts)]
        for folder in (tuned, tmp_path / "out")
    ]
    assert left[0] == left[1]
    assert len({exit for _, exit in left[0]}) > 1, "somebody was dropped"
    assert json.loads((tmp_path / "out" / "plan.json").read_text())["about"] == {"how": "so"}
