"""recipes/mini/unpack.py: an int8 export becomes a ranker that can be trained on."""

import importlib.util
from pathlib import Path

import pytest

from cascada.encoders.encoder import load_encoder
from cascada.ranking import Ranker
from cascada.systems.cut import cut
from cascada.systems.decoupled.folder import save
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.shape import DecoupledShape
from cascada.systems.export import export

SCRIPT = Path(__file__).parents[2] / "recipes" / "mini" / "unpack.py"


@pytest.fixture(scope="module")
def unpack():
    spec = importlib.util.spec_from_file_location("unpack_mini", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.unpack


@pytest.fixture
def late_folder(encoder_folder, words, tmp_path):
    """A late-interaction ranker with exit 0, as the bundled model is."""
    shape = DecoupledShape(join=4, exits=(4,), towers="shared", match="late", question_length=16, max_length=64)
    model = DecoupledRanker(load_encoder(encoder_folder), shape)
    save(model.eval(), tmp_path / "late", tokenizer=encoder_folder, card="")
    cut(tmp_path / "late", (0, 4), tmp_path / "late-0", texts=words)
    return tmp_path / "late-0"


@pytest.mark.parametrize("kind", ["cascade_folder", "late_folder"])
def test_what_was_unpacked_ranks_as_the_export_and_packs_again(unpack, kind, encoder_folder, tmp_path, request):
    export(request.getfixturevalue(kind), tmp_path / "int8", "int8")
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
