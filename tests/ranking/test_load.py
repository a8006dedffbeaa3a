"""From a name to a ranker."""

import shutil

import pytest

from cascada import Ranker
from cascada.errors import CascadaError


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
