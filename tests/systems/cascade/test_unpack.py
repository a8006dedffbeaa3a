"""recipes/mini/unpack.py: an int8 export becomes a ranker that can be trained on."""

import importlib.util
from pathlib import Path

import pytest

from cascada.ranking import Ranker
from cascada.systems.export import export

SCRIPT = Path(__file__).parents[3] / "recipes" / "mini" / "unpack.py"


@pytest.fixture(scope="module")
def unpack():
    spec = importlib.util.spec_from_file_location("unpack_mini", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.unpack


def test_what_was_unpacked_ranks_as_the_export_and_packs_again(unpack, cascade_folder, encoder_folder, tmp_path):
    export(cascade_folder, tmp_path / "int8", "int8")
    unpack(tmp_path / "int8", str(encoder_folder), tmp_path / "float")
    export(tmp_path / "float", tmp_path / "again", "int8")
    texts = ["one two three", "two", "four five six seven"]
    packed, floats, again = (
        {item.index: item.scores for item in Ranker.load(tmp_path / name).rank("two three?", texts, drop=0)}
        for name in ("int8", "float", "again")
    )
    for index, scores in packed.items():
        assert again[index] == pytest.approx(scores, abs=0.01)
        assert floats[index] == pytest.approx(scores, abs=0.05)
