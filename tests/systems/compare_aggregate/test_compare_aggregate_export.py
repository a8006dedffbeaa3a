"""A compare-aggregate ranker as a graph ranks as it was trained to, and needs no torch."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.objectives.levels import SCHEMES
from cascada.systems.compare_aggregate.export import CompareAggregateExporter
from cascada.systems.compare_aggregate.folder import load, save
from cascada.systems.compare_aggregate.network import CompareAggregateRanker
from cascada.systems.compare_aggregate.shape import CompareAggregateShape
from cascada.systems.export import export
from cascada.text.vocabulary import Vocabulary

SIZES = {"embedding": 8, "hidden": 10, "channels": 6, "max_words": 12}


@pytest.fixture
def texts(words):
    return ["", "zzz", *(" ".join(words[start : start + 1 + start * 5 % 17]) for start in range(40))]


@pytest.fixture
def trained(tmp_path, words):
    def make(scheme, **sizes):
        torch.manual_seed(5)
        vocabulary = Vocabulary(words)
        model = CompareAggregateRanker(CompareAggregateShape(SCHEMES[scheme], **{**SIZES, **sizes}), len(vocabulary))
        save(model, tmp_path / "trained", vocabulary=vocabulary, card="# Card\n")
        return tmp_path / "trained"

    return make


def raw(ranker, question, texts):
    return np.array([item.raw_score for item in sorted(ranker.rank(question, texts), key=lambda item: item.index)])


@pytest.mark.parametrize("scheme", [*SCHEMES])
def test_every_variant_scores_as_in_torch(trained, tmp_path, texts, words, scheme):
    folder = trained(scheme, k_max=(2, 3))
    export(folder, tmp_path / "out", "fp32")
    question = " ".join(words[:4])
    expected, found = (raw(Ranker.load(place), question, texts) for place in (folder, tmp_path / "out"))
    assert np.ptp(expected) > 1e-3
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(
    "sizes", [{"k_max": None}, {"k_max": (9, 40)}, {"widths": (3,)}, {"widths": (4, 1), "main": "point"}]
)
def test_other_sizes_do_too(trained, tmp_path, texts, words, sizes):
    folder = trained("MTL", **sizes)
    export(folder, tmp_path / "out", "fp32")
    expected, found = (raw(Ranker.load(place), words[7], texts) for place in (folder, tmp_path / "out"))
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_in_int8_it_ranks_nearly_the_same(trained, tmp_path, texts, words):
    folder = trained("PRI(list)")
    export(folder, tmp_path / "out", "int8")
    expected, found = (raw(Ranker.load(place), words[7], texts) for place in (folder, tmp_path / "out"))
    assert np.corrcoef(expected, found)[0, 1] > 0.95
    assert not np.array_equal(expected, found)


def test_it_drops_in_front_of_a_cascade_without_torch(trained, tmp_path, texts, words, cascade_folder):
    first, second = tmp_path / "first", tmp_path / "second"
    export(trained("RI(pair)"), first, "fp32")
    export(cascade_folder, second, "fp32")
    code = """
import json, sys
from cascada import Ranker
ranking = Ranker.load(sys.argv[1]).rank(sys.argv[2], json.loads(sys.argv[3]), keep=[20, 5])
print(json.dumps([[stage.candidates for stage in ranking.stages], ranking.stages[0].flops, "torch" in sys.modules]))
"""
    command = [sys.executable, "-c", code, f"{first}+{second}", words[3], json.dumps(texts)]
    candidates, flops, torch_there = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert (candidates, torch_there) == ([len(texts), 20, 5], False)
    computed = sum(stage.flops for stage in Ranker.load(tmp_path / "trained").rank(words[3], texts).stages)
    assert 0 < flops < computed, "encodings are looked up"


def test_a_changed_file_is_rejected(trained, tmp_path):
    export(trained("CA(point)"), tmp_path / "out", "fp32")
    (tmp_path / "out" / "words.txt").write_text("other")
    with pytest.raises(CascadaError, match=r"words\.txt is not the file that was exported"):
        Ranker.load(tmp_path / "out")


def test_an_exported_one_is_for_ranking_only(trained, tmp_path):
    export(trained("CA(point)"), tmp_path / "out", "fp32")
    for read in (load, lambda folder: CompareAggregateExporter(folder, "fp32")):
        with pytest.raises(CascadaError, match="is an exported ranker, for ranking only"):
            read(tmp_path / "out")
