"""The real data sets hold what the papers say. Set CASCADA_DATA to a folder with wikiqa/, trecqa/, selqa/ … to run."""

import os
from pathlib import Path

import pytest

from cascada.data import flip_labels, read, statistics, statistics_by_mode

ROOT = Path(os.environ.get("CASCADA_DATA", ""))
pytestmark = pytest.mark.skipif("CASCADA_DATA" not in os.environ, reason="CASCADA_DATA is not set")

COUNTS = {
    # One paper prints 121 questions for WikiQA's clean dev set; its 1,126 pairs belong to 122.
    ("wikiqa", "train"): ((2118, 20360), (873, 8672), (857, 8651)),
    ("wikiqa", "dev"): ((296, 2733), (126, 1130), (122, 1126)),
    ("wikiqa", "test"): ((633, 6165), (243, 2351), (237, 2341)),
    ("trecqa", "train-all"): ((1229, 53417), None, None),
    ("trecqa", "train"): ((94, 4718), None, None),
    ("trecqa", "dev"): ((82, 1148), None, (65, 1117)),
    ("trecqa", "test"): ((100, 1517), None, (68, 1442)),
    ("selqa", "dev"): ((785, 9419), None, None),
    ("selqa", "test"): ((1590, 19519), None, None),
}


@pytest.mark.parametrize(("name", "split"), COUNTS)
def test_questions_and_pairs_are_the_published_ones(name, split):
    counted = statistics_by_mode(read(name, root=ROOT / name, split=split))
    for expected, found in zip(COUNTS[name, split], counted.values(), strict=True):
        assert expected in (None, (found.questions, found.pairs))


def test_squad_layout_gives_each_question_one_answer_sentence():
    counted = statistics(read(f"squad:{ROOT / 'xquad' / 'xquad.en.json'}"))
    assert (counted.questions, counted.positives) == (1190, 1190)


def test_qnli_has_its_pairs():
    assert statistics(read("qnli", root=ROOT / "qnli", split="dev")).pairs == 5463


@pytest.mark.parametrize(("share", "flipped"), [(0.1, 867), (0.2, 1734)])
def test_noise_flips_as_many_labels_as_the_paper(share, flipped):
    groups = list(read("wikiqa", root=ROOT / "wikiqa", split="train", mode="no-all-negative"))
    noisy = flip_labels(groups, share, seed=1)
    pairs = (
        (a, b) for one, other in zip(groups, noisy, strict=True) for a, b in zip(one.labels, other.labels, strict=True)
    )
    assert sum(a != b for a, b in pairs) == flipped
