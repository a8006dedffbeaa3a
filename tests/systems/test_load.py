"""From a name to a ranker."""

import shutil
import sys

import pytest

from cascada import Ranker
from cascada.core.errors import CascadaError, MissingExtra


@pytest.fixture
def hub(tmp_path, ranker_folder, monkeypatch):
    """A hub cache that holds one ranker, `team/ranker`, and no network."""
    import huggingface_hub.constants

    home = tmp_path / "hub" / "models--team--ranker"
    shutil.copytree(ranker_folder, home / "snapshots" / "abc")
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("abc")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def test_a_hub_name_is_the_ranker_in_the_cache(hub, ranker_folder):
    texts = ["one", "two", "three"]
    here = Ranker.load(ranker_folder).score("what?", texts)
    assert Ranker.load("team/ranker").score("what?", texts).tolist() == here.tolist()


def test_a_hub_name_that_cannot_be_fetched_is_a_sentence(hub):
    with pytest.raises(
        CascadaError, match="There is no folder team/other, and no such model could be fetched"
    ) as caught:
        Ranker.load("team/other")
    assert "\n" not in str(caught.value)


def test_a_hub_name_without_the_hubs_client_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtra, match="no folder team/other, and fetching it from the hub needs") as caught:
        Ranker.load("team/other")
    assert str(caught.value).endswith('huggingface_hub: pip install "cascada[hub]"')


# Rankers in sequence


def test_rankers_in_sequence_each_rank_the_survivors_of_the_one_before(ranker_folder, cascade_folder, words):
    texts = [f"{word} {words[7]}" for word in words[:20]]
    first, second = Ranker.load(ranker_folder), Ranker.load(cascade_folder)
    ranking = Ranker.load(f"{ranker_folder}+{cascade_folder}").rank(words[7], texts, keep=[8, 3])
    assert [stage.candidates for stage in ranking.stages] == [20, 8, 3]
    kept = [item.index for item in first.rank(words[7], texts)][:8]
    then = second.rank(words[7], [texts[index] for index in sorted(kept)], keep=[3])
    assert [item.index for item in ranking][:8] == [sorted(kept)[item.index] for item in then]


def test_the_cost_of_a_sequence_is_relative_to_the_last_model_alone(ranker_folder, words):
    ranking = Ranker.load(f"{ranker_folder}+{ranker_folder}").rank(words[0], words[:10], drop=0.5)
    assert ranking.relative_cost == (4 * 10 + 4 * 5) / (4 * 10)
    assert ranking.full_flops < ranking.flops < 2 * ranking.full_flops


def test_bm25_selects_candidates_for_a_model(cascade_folder, words):
    texts = [f"{words[1]} {word}" for word in words[:50]] + [words[0]]
    ranking = Ranker.load(f"bm25+{cascade_folder}").rank(words[0], texts, keep=[5, 5])
    assert [stage.candidates for stage in ranking.stages] == [51, 5, 5]
    assert {item.index for item in ranking.items[:5]} >= {0, 50}, "those with the word that was asked for"
    assert ranking.relative_cost == pytest.approx(5 / 51)


def test_a_plus_in_a_folders_name_is_part_of_it(ranker_folder, tmp_path):
    shutil.copytree(ranker_folder, tmp_path / "a+b")
    assert len(Ranker.load(tmp_path / "a+b").stages) == 1


@pytest.mark.parametrize("name", ["bm25+", "+bm25", "bm25++bm25", "+"])
def test_a_name_is_missing_beside_a_plus(name):
    with pytest.raises(CascadaError, match=r"a name is missing beside a \+"):
        Ranker.load(name)


def test_every_ranker_of_a_sequence_must_exist():
    with pytest.raises(CascadaError, match="There is no folder nowhere"):
        Ranker.load("bm25+nowhere")


@pytest.mark.parametrize("name", ["", 7, ["bm25"]])
def test_what_is_no_name(name):
    with pytest.raises(CascadaError, match="it must be a folder, cascada-mini, bm25, cosine:FOLDER or late:FOLDER"):
        Ranker.load(name)
