"""Claims: verdicts follow the kept results, and kept results add up over the months."""

import json
from pathlib import Path

import numpy as np
import pytest

from cascada.cli.main import main
from cascada.core.errors import CascadaError
from cascada.metrics import Evaluation
from cascada.reproduce.claims import Claim, read_claims
from cascada.reproduce.kept_results import KeptResults, keep, read_kept
from cascada.reproduce.verdicts import combined, judge, judge_all
from cascada.training.measured import result_of, write_results
from cascada.training.recipes import read_recipe
from cascada.training.study import StudyRecipe

REPOSITORY = Path(__file__).parents[2]
CLAIMS = REPOSITORY / "recipes" / "claims.yaml"
QUESTIONS = 40


def result(row, seed, mean, *, test="t", spread=0.05, cost=None, **values):
    """A row with this MAP, and questions around it that differ from row to row."""
    noise = np.random.default_rng([len(row), *map(ord, row), seed]).normal(0, spread, QUESTIONS)
    by_question = dict(enumerate(np.clip(mean + noise - noise.mean(), 0, 1).tolist()))
    made = result_of(
        row, test, seed, Evaluation({"MAP": {f"q{name:02}": value for name, value in by_question.items()}}), cost
    )
    return {**made, "values": {**made["values"], **values}}


def kept(*results):
    return KeptResults(results)


def rows(**means):
    """Three seeds of each row."""
    return kept(*(result(name, seed, mean) for name, mean in means.items() for seed in (1, 2, 3)))


def claim(judged, measure="MAP", tests=("t",)):
    content = {"claim": "A.", "where": "Table 1", "paper": "x", "judged": judged, "measure": measure, "command": "c"}
    return Claim.model_validate(content | ({} if judged["rule"] == "layers" else {"results": "s", "tests": tests}))


ABOVE = claim({"rule": "above", "rows": ["a", "b"]})


@pytest.mark.parametrize(
    ("a", "b", "word"),
    [(0.8, 0.6, "shown"), (0.602, 0.6, "shown in part"), (0.6, 0.602, "not shown"), (0.6, 0.8, "contradicted")],
)
def test_the_verdict_changes_when_the_figure_does(a, b, word):
    verdict = judge(ABOVE, rows(a=a, b=b))
    assert verdict.word == word
    assert verdict.figure == f"MAP {f'{a:.3f}'[1:]} against {f'{b:.3f}'[1:]}"
    assert verdict.seeds == 3
    assert (verdict.p < 0.05) == (word in ("shown", "contradicted"))


def test_one_seed_shows_in_part_and_no_results_are_not_run():
    verdict = judge(ABOVE, kept(result("a", 1, 0.8), result("b", 1, 0.6)))
    assert (verdict.word, verdict.reason) == ("shown in part", "1 seed")
    verdict = judge(ABOVE, kept(result("a", 1, 0.8)))
    assert (verdict.word, verdict.reason) == ("not run", "no results of b")


@pytest.mark.parametrize(
    ("judged", "a", "word"),
    [
        ({"rule": "not below"}, 0.7, "shown"),
        ({"rule": "not below"}, 0.695, "shown"),
        ({"rule": "not below"}, 0.5, "contradicted"),
        ({"rule": "within", "share": 0.02}, 0.69, "shown"),
        ({"rule": "within", "share": 0.02}, 0.684, "not shown"),
        ({"rule": "within", "share": 0.02}, 0.5, "contradicted"),
    ],
)
def test_rules_that_allow_a_loss(judged, a, word):
    assert judge(claim({**judged, "rows": ["a", "b"]}), rows(a=a, b=0.7)).word == word


def test_noise_costs_one_less_than_the_other():
    judged = claim({"rule": "loses less", "first": ["a", "a noisy"], "second": ["b", "b noisy"]})
    verdict = judge(judged, rows(**{"a": 0.8, "a noisy": 0.78, "b": 0.8, "b noisy": 0.6}))
    assert (verdict.word, verdict.figure) == ("shown", "MAP lost .020 against .200")
    assert judge(judged, rows(**{"a": 0.8, "a noisy": 0.6, "b": 0.8, "b noisy": 0.78})).word == "contradicted"


def test_spreads_are_compared_with_five_seeds():
    judged = claim({"rule": "varies less", "rows": ["a", "b"]})

    def spread(seeds):
        near = [result("a", seed, 0.7 + 0.001 * seed) for seed in seeds]
        return kept(*near, *(result("b", seed, 0.7 + 0.02 * seed) for seed in seeds))

    assert judge(judged, spread(range(5))).word == "shown"
    few = judge(judged, spread(range(3)))
    assert (few.word, few.reason) == ("shown in part", "3 seeds")
    equal = kept(*(result(row, seed, 0.7 + 0.01 * seed) for row in "ab" for seed in range(5)))
    assert judge(judged, equal).word == "not shown"


def test_costs_need_one_seed_and_no_test():
    judged = claim({"rule": "ratio", "rows": ["a", "b"], "value": "cost", "at_least": 1.9})
    for cost, word in ((1.2, "shown"), (1.0, "not shown")):
        assert judge(judged, kept(result("a", 1, 0.5, cost=cost), result("b", 1, 0.5, cost=0.6))).word == word


def test_layers_need_no_run():
    assert judge(claim({"rule": "layers", "drops": {"0.3": 0.63}}), kept()).word == "shown"
    assert judge(claim({"rule": "layers", "drops": {"0.3": 0.5}}), kept()).word == "not shown"


def test_a_claim_about_two_test_sets_is_shown_on_both():
    judged = claim({"rule": "above", "rows": ["a", "b"]}, tests=("t", "u"))
    good = [result(row, seed, mean) for row, mean in (("a", 0.8), ("b", 0.6)) for seed in (1, 2, 3)]
    half = judge(judged, kept(*good))
    assert (half.word, half.reason) == ("shown in part", "u: not run")
    bad = [{**own, "test": "u", "row": {"a": "b", "b": "a"}[own["row"]]} for own in good]
    assert judge(judged, kept(*good, *bad)).word == "shown in part"
    assert combined({"t": judge(ABOVE, kept(*({**own, "test": "t"} for own in bad)))}).word == "contradicted"
    also = [{**own, "test": "u"} for own in good]
    assert judge(judged, kept(*good, *also)).word == "shown"


def write_study(folder, *results):
    folder.mkdir(exist_ok=True)
    with (folder / "measured.json").open("w") as file:
        write_results(file, {"study": "s"}, results)
    return folder


def test_results_of_two_machines_add_up_and_a_seed_that_ran_again_is_replaced(tmp_path):
    first = write_study(tmp_path / "one", result("a", 1, 0.5), result("a", 2, 0.6))
    second = write_study(tmp_path / "two", result("a", 2, 0.7), result("a", 3, 0.8), result("b", 1, 0.4))
    for study in (first, second):
        path = keep(study, tmp_path / "results")
    assert path == tmp_path / "results" / "s.json"
    found = read_kept(path).of("a", "t")
    assert [(own["seed"], own["values"]["MAP"]) for own in found] == [(1, 0.5), (2, 0.7), (3, 0.8)]
    assert len(read_kept(path).of("b", "t")) == 1
    assert len(path.read_text().splitlines()) < 25
    other = {**result("a", 4, 0.5), "digest": "other"}
    with pytest.raises(CascadaError, match="over other questions"):
        keep(write_study(tmp_path / "three", other), tmp_path / "results")


def test_the_table_of_open_qa_is_kept_as_its_means(tmp_path):
    rows = [{"reranker": name, "P@10": p, "speed-up": s} for name, p, s in (("BERT", 0.9, 1.0), ("DC-BERT", 0.6, 12.0))]
    (tmp_path / "open-qa.json").write_text(json.dumps({"questions": 72, "rows": rows}))
    path = keep(tmp_path / "open-qa.json", tmp_path / "results")
    judged = {"rule": "ratio", "rows": ["DC-BERT", "BERT"], "value": "speed-up", "at_least": 10}
    assert judge(claim(judged, tests=("open-qa",)), read_kept(path)).word == "shown"
    judged = {"rule": "above", "rows": ["DC-BERT", "BERT"]}
    verdict = judge(claim(judged, "P@10", ("open-qa",)), read_kept(path))
    assert (verdict.word, verdict.p, verdict.figure) == ("not shown", None, "P@10 .600 against .900")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("[]", "has no results"), ("{", "cannot be read as results"), ('{"results": [{}]}', "'row' is missing")],
)
def test_a_file_without_results_is_a_sentence(tmp_path, content, sentence):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(CascadaError, match=sentence):
        keep(tmp_path / "x.json", tmp_path / "results")
    with pytest.raises(CascadaError, match="after every run of a study"):
        keep(tmp_path, tmp_path / "results")


def test_the_command_keeps_a_study_and_reports_the_verdict(tmp_path, monkeypatch, capsys):
    (tmp_path / "recipes").mkdir()
    content = {"papers": [{"name": "p", "title": "P", "claims": [ABOVE.model_dump(mode="json", exclude_none=True)]}]}
    (tmp_path / "recipes" / "claims.yaml").write_text(json.dumps(content))
    study = write_study(tmp_path / "study", *rows(a=0.8, b=0.6).results)
    words = ["--papers", str(tmp_path / "recipes" / "papers.yaml"), "--results", str(tmp_path / "results"), "--claims"]

    def run(*more):
        monkeypatch.setattr("sys.argv", ["cascada", "reproduce", *words, *more])
        with pytest.raises(SystemExit):
            main()
        return capsys.readouterr().out

    assert "| **not run** (no results of a, b) |" in run()
    text = run("--keep", str(study))
    assert "Of 1 claims: 1 shown." in text
    assert "| A. (Table 1) | x | **shown** | MAP .800 against .600 | 3 | < .001 | `c` |" in text
    assert json.loads(run("--json"))[0]["word"] == "shown"


def test_every_claim_reads_rows_that_its_recipe_makes():
    claims = read_claims(CLAIMS)
    assert 15 <= sum(1 for _ in claims.all()) <= 40
    for _, own in claims.all():
        words = own.command.split()
        if words[:2] != ["cascada", "train"]:
            continue
        recipe = read_recipe(REPOSITORY / words[2])
        assert isinstance(recipe, StudyRecipe)
        assert Path(recipe.output).name == own.results
        assert set(own.tests) <= set(recipe.test)
        judged = own.judged.model_dump()
        names = {name for key in ("rows", "first", "second") for name in judged.get(key, ())}
        heads = {*recipe.variants, *recipe.readings, *recipe.sequences}
        suffixes = ("", *(f", {name}" for name in recipe.drops), *(f", exit {layer}" for layer in range(13)))
        assert names <= {head + suffix for head in heads for suffix in suffixes}, own.claim
        assert all(", exit " not in name or recipe.exits == "each" for name in names)
        assert recipe.exits == "last" or all("," in name for name in names)


def test_the_page_of_claims_is_what_the_kept_results_say():
    from cascada.reproduce.claims_report import markdown

    page = (REPOSITORY / "docs" / "claims.md").read_text(encoding="utf-8")
    assert page == markdown(judge_all(read_claims(CLAIMS), REPOSITORY / "docs" / "results"))
