"""`cascada evaluate`: any ranker, or a run file, on any data set."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cascada.cli.main import app
from cascada.core.errors import CascadaError
from cascada.data import load, qrels, read_qrels, read_run
from cascada.metrics import evaluate

EXAMPLES = Path(__file__).parents[2] / "examples" / "selqa.jsonl"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["evaluate", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def as_json(*arguments: object) -> dict:
    return json.loads(run(*arguments, "--json"))


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Two questions: on the first the word that is asked for is in the wrong candidate."""
    groups = [
        {
            "id": "a",
            "question": "red fox",
            "candidates": [{"text": "the red fox ran", "label": 0}, {"text": "blue", "label": 1}],
        },
        {
            "id": "b",
            "question": "green tree",
            "candidates": [{"text": "a green tree", "label": 1}, {"text": "blue", "label": 0}],
        },
        {"id": "c", "question": "no answer here", "candidates": [{"text": "blue", "label": 0}]},
    ]
    path = tmp_path / "tiny.jsonl"
    path.write_text("\n".join(map(json.dumps, groups)) + "\n")
    return path


def test_numbers_are_those_of_the_ranking(tiny: Path) -> None:
    assert as_json("bm25", tiny) | {"seconds": 0} == {
        "MAP": 0.75,
        "MRR": 0.75,
        "P@1": 0.5,
        "nDCG@10": pytest.approx(0.8154648767857288),
        "questions": 2,
        "seconds": 0,
        "relative_cost": 1.0,
        "relative_cost_p95": 1.0,
    }


def test_raw_mode_counts_a_question_without_a_correct_candidate_as_zero(tiny: Path) -> None:
    found = as_json("bm25", tiny, "--mode", "raw")
    assert (found["questions"], found["MAP"]) == (3, 0.5)


def test_the_run_that_is_written_gives_the_same_numbers(tmp_path: Path) -> None:
    path = tmp_path / "bm25.trec"
    first = as_json("bm25", EXAMPLES, "--run", path)
    again = as_json(path, EXAMPLES)
    del first["seconds"], again["seconds"], first["relative_cost"], first["relative_cost_p95"]
    assert first == again
    assert evaluate(read_run(path), qrels(load(str(EXAMPLES), mode="clean"))).mean["MAP"] == first["MAP"]


def test_ids_are_the_same_in_every_mode(tiny: Path, tmp_path: Path) -> None:
    """A run made in raw mode can be measured in clean mode although questions are missing there."""
    path = tmp_path / "raw.trec"
    run("bm25", tiny, "--mode", "raw", "--run", path)
    assert as_json(path, tiny)["MAP"] == as_json("bm25", tiny)["MAP"]


def test_against_reports_the_difference_and_its_significance(tmp_path: Path) -> None:
    path = tmp_path / "bm25.trec"
    better = as_json("bm25", EXAMPLES, "--run", path)
    lines = [line.split() for line in path.read_text().splitlines()]
    reversed_ = tmp_path / "reversed.trec"
    reversed_.write_text("".join(f"{q} Q0 {d} 1 {-float(s)!r} x\n" for q, _, d, _, s, _ in lines))
    worse = as_json(reversed_, EXAMPLES, "--against", path)
    one = worse["against"]["MAP"]
    assert one["difference"] == pytest.approx(worse["MAP"] - better["MAP"])
    assert one["difference"] < 0
    assert one["t_p"] < 0.001
    assert one["randomisation_p"] < 0.001


def test_a_trained_ranker_is_measured(ranker_folder: Path, tiny: Path) -> None:
    assert as_json(ranker_folder, tiny)["questions"] == 2


def test_the_cost_of_a_cascade_is_the_mean_over_the_questions(cascade_folder: Path, tiny: Path) -> None:
    found = as_json(cascade_folder, tiny, "--keep", "1")
    assert found["relative_cost"] == (2 * 2 + 2 * 1) / (4 * 2)
    assert 0.5 < found["flops_share"] < 1
    assert 0 < found["calibration_error"] < 1
    assert as_json(cascade_folder, tiny)["flops_share"] == as_json(cascade_folder, tiny)["relative_cost"] == 1
    shown = run(cascade_folder, tiny, "--drop", "0.5")
    assert "cost relative to running every candidate to the last exit: 0.750 (95th percentile 0.750, FLOPs " in shown


def test_cosine_ranking_by_an_encoder(encoder_folder: Path, tiny: Path) -> None:
    assert as_json(f"cosine:{encoder_folder}", tiny)["questions"] == 2


def test_other_measures(tiny: Path) -> None:
    found = as_json("bm25", tiny, "--measures", "R@1,P@2")
    assert (found["R@1"], found["P@2"]) == (0.5, 0.5)
    assert "MAP" not in found


def test_the_table_names_model_data_and_questions(tiny: Path) -> None:
    shown = run("bm25", tiny)
    assert "2 questions" in shown
    assert "0.7500" in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere", EXAMPLES], "nowhere"),
        (["bm25", "wikiqa"], "root"),
        (["bm25", EXAMPLES, "--mode", "cleen"], "cleen"),
        (["bm25", EXAMPLES, "--measures", "MAPP"], "MAPP"),
        (["bm25", EXAMPLES, "--drop", "much"], "much"),
        (["bm25", EXAMPLES, "--drop", "fit"], "deadline"),
        (["bm25", EXAMPLES, "--keep", "many"], "--keep many"),
        (["bm25", EXAMPLES, "--keep", "3"], "keep has 1 numbers"),
        (["bm25", EXAMPLES, "--keep", "3", "--drop", "0.1"], "both given"),
        (["cosine:nowhere", EXAMPLES], "nowhere"),
    ],
)
def test_a_mistake_is_one_sentence(arguments: list[object], sentence: str) -> None:
    with pytest.raises(CascadaError, match=sentence) as caught:
        run(*arguments)
    assert "\n" not in str(caught.value)


def test_a_run_of_other_questions_is_rejected(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.trec"
    path.write_text("elsewhere Q0 x 1 0.5 tag\n")
    with pytest.raises(CascadaError):
        run(path, tiny)


def test_drop_does_not_go_with_a_run_file(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.trec"
    run("bm25", tiny, "--run", path)
    with pytest.raises(CascadaError, match="drop, keep and store belong to a ranker"):
        run(path, tiny, "--drop", "0.5")


def test_the_qrels_of_a_mode_and_a_run_of_that_mode_name_the_same_questions(tmp_path: Path) -> None:
    """Even if the data has no ids and the mode leaves out the first question."""
    groups = [
        {"question": "nothing", "candidates": [{"text": "blue", "label": 0}]},
        {"question": "red fox", "candidates": [{"text": "a red fox", "label": 1}, {"text": "blue", "label": 0}]},
    ]
    data, labels, ranked = (tmp_path / name for name in ("data.jsonl", "clean.qrels", "run.trec"))
    data.write_text("\n".join(map(json.dumps, groups)) + "\n")
    run("bm25", data, "--run", ranked)
    convert = ["data", "convert", str(data), str(labels), "--mode", "clean", "--to", "qrels"]
    assert CliRunner().invoke(app, convert, catch_exceptions=False).exit_code == 0
    assert evaluate(read_run(ranked), read_qrels(labels)).mean["MAP"] == 1.0
    clean = tmp_path / "clean.jsonl"
    CliRunner().invoke(app, ["data", "convert", str(data), str(clean), "--mode", "clean"], catch_exceptions=False)
    assert as_json(ranked, clean)["MAP"] == 1.0


def test_each_measure_has_its_own_significance_however_it_is_spelled(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "worst.trec"
    path.write_text("a Q0 a-0 1 1.0 x\na Q0 a-1 2 0.0 x\nb Q0 b-1 1 1.0 x\nb Q0 b-0 2 0.0 x\n")
    against = as_json("bm25", tiny, "--measures", "MAP,map,P@1", "--against", path)["against"]
    assert (against["MAP"]["difference"], against["P@1"]["difference"]) == (0.25, 0.5)


def test_a_run_that_cannot_be_written_is_reported_before_anything_is_ranked(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(CascadaError, match="there is no folder"):
        run("no-such-model", tiny, "--run", tmp_path / "nowhere" / "x.trec")


def test_a_file_has_no_split(tiny: Path) -> None:
    with pytest.raises(CascadaError, match="is a file"):
        run("bm25", tiny, "--split", "dev")


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """BEIR's layout: BM25 finds the worse document of the first question first, and nothing for the third."""
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    corpus = [("a", "red red fox"), ("b", "the red fox ran"), ("c", "a green tree"), ("d", "blue")]
    (folder / "corpus.jsonl").write_text(
        "".join(json.dumps({"_id": name, "title": "", "text": text}) + "\n" for name, text in corpus)
    )
    asked = [("1", "red fox"), ("2", "green tree"), ("3", "nothing shared")]
    (folder / "queries.jsonl").write_text("".join(json.dumps({"_id": n, "text": t}) + "\n" for n, t in asked))
    judged = "query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t3\n2\tc\t2\n3\td\t1\n"
    (folder / "qrels" / "test.tsv").write_text(judged)
    return folder


def test_a_benchmark_is_reranked_from_a_first_stage_and_compared_with_it(beir: Path) -> None:
    found = as_json("bm25", "beir", "--root", beir, "--first-stage", "bm25")
    first = (1 + 3 / 1.5849625007211562) / (3 + 1 / 1.5849625007211562)  # grades 1, 3 against 3, 1: trec_eval's gains
    assert found["first_stage"]["nDCG@10"] == pytest.approx((first + 1 + 0) / 3)
    assert (found["questions"], found["relevant"], found["first_stage"]["MAP"]) == (3, 1, pytest.approx(2 / 3))
    strict = as_json("bm25", "beir", "--root", beir, "--first-stage", "bm25", "--relevant", 2)
    assert strict["first_stage"]["MAP"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert strict["first_stage"]["nDCG@10"] == found["first_stage"]["nDCG@10"]
    assert "first stage" in run("bm25", "beir", "--root", beir, "--first-stage", "bm25")


def test_a_run_of_a_benchmark_needs_no_first_stage(beir: Path, tmp_path: Path) -> None:
    (tmp_path / "best.trec").write_text("1 Q0 b 1 2 x\n1 Q0 a 2 1 x\n2 Q0 c 1 1 x\n3 Q0 d 1 1 x\n")
    assert as_json(tmp_path / "best.trec", "beir", "--root", beir)["nDCG@10"] == 1
    with pytest.raises(CascadaError, match="Say which candidates are to be ranked"):
        run("bm25", "beir", "--root", beir)


def test_qrels_replace_labels_and_judged_documents_outside_of_the_list_count(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "judged").write_text("a 0 a-0 2\na 0 elsewhere 3\nb 0 b-0 1\nz 0 z 1\n")
    found = as_json("bm25", tiny, "--qrels", tmp_path / "judged")
    ideal = 3 + 2 / 1.5849625007211562
    assert (found["questions"], found["nDCG@10"]) == (2, pytest.approx((2 / ideal + 1) / 2))
    assert found["MAP"] == pytest.approx((0.5 + 1) / 2)
