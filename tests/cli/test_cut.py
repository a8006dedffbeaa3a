"""`cascada cut`."""

import pytest

from cascada.cli.cut import cut
from cascada.core.errors import CascadaError
from cascada.ranking import Ranker


def test_the_exits_that_are_named_are_kept(cascade_folder, tmp_path, capsys):
    first = Ranker.load(cascade_folder).exits[0]
    cut(cascade_folder, tmp_path / "out", str(first))
    assert Ranker.load(tmp_path / "out").exits == (first,)
    assert f"exit {first} of" in capsys.readouterr().out


def test_exits_that_are_not_numbers_are_one_sentence(cascade_folder, tmp_path):
    with pytest.raises(CascadaError, match="--exits four: expected layers separated by commas"):
        cut(cascade_folder, tmp_path / "out", "four")


def test_exit_0_is_added_with_texts_to_count_in(cascade_folder, words, tmp_path):
    (tmp_path / "texts.jsonl").write_text("".join(f'{{"text": "{word}"}}\n' for word in words), encoding="utf-8")
    cut(cascade_folder, tmp_path / "out", "0,4", tmp_path / "texts.jsonl")
    assert Ranker.load(tmp_path / "out").exits == (0, 4)
