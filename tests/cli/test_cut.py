"""`cascada cut`."""

import json

import pytest

from cascada.cli.cut import cut
from cascada.core.errors import CascadaError
from cascada.data import load
from cascada.ranking import Ranker
from cascada.systems.cut import cut as write


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


@pytest.fixture
def misleading(tmp_path, words):
    """Lists in which the rarer word of every question is in the incorrect candidates, and texts to take IDF from.

    It is so much rarer in the texts that it counts more although most candidates have it.
    """
    common, rare, *others = words[:40]
    texts = [common] * 22 + [rare] * 10 + [others[n % len(others)] for n in range(68)]
    (tmp_path / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    with (tmp_path / "lists.jsonl").open("w") as file:
        for number in range(160):
            wrong = [f"{rare} {others[(number + n) % len(others)]}" for n in range(3)]
            candidates = [{"text": text, "label": 0} for text in wrong] + [{"text": common, "label": 1}]
            file.write(json.dumps({"question": f"{common} {rare}", "candidates": candidates}) + "\n")
    return tmp_path


def test_weights_are_learned_from_lists_and_kept_if_they_keep_more_of_what_is_correct(
    cascade_folder, misleading, capsys
):
    texts, lists = misleading / "texts.txt", str(misleading / "lists.jsonl")
    cut(cascade_folder, misleading / "idf", "0,2,4", texts)
    cut(cascade_folder, misleading / "learned", "0,2,4", texts, lists)
    told = capsys.readouterr().out
    assert "Of 32 questions that nothing was learned from, exit 0 keeps 100.0% of the correct candidates" in told
    assert "by IDF alone 0.0%. The learned weights are kept." in told
    question, texts = (lambda group: (group.question, group.texts))(load(lists)[0])
    first = {name: Ranker.load(misleading / name).rank(question, texts, drop=0) for name in ("idf", "learned")}
    best = {name: max(ranking, key=lambda item: item.scores[0]).index for name, ranking in first.items()}
    assert (best["idf"] != 3, best["learned"] == 3) == (True, True)


def test_weights_that_are_not_better_on_another_set_are_not_kept(cascade_folder, misleading, words, capsys):
    with (misleading / "other.jsonl").open("w") as file:
        group = {"question": f"{words[0]} {words[1]}", "candidates": [{"text": words[1], "label": 1}]}
        group["candidates"] += [{"text": f"{words[0]} {words[2 + n]}", "label": 0} for n in range(3)]
        file.write(json.dumps(group) + "\n")
    texts, lists = misleading / "texts.txt", str(misleading / "lists.jsonl")
    cut(cascade_folder, misleading / "idf", "0,2,4", texts)
    cut(cascade_folder, misleading / "same", "0,2,4", texts, lists, str(misleading / "other.jsonl"))
    assert "The learned weights are not kept." in capsys.readouterr().out
    scores = [next(Ranker.load(misleading / name).exit_scores([(words[0], words[1:5])])) for name in ("idf", "same")]
    assert scores[0].tolist() == scores[1].tolist()


def test_learning_again_compares_with_the_weights_it_had(cascade_folder, misleading, capsys):
    lists = str(misleading / "lists.jsonl")
    cut(cascade_folder, misleading / "learned", "0,2,4", misleading / "texts.txt", lists)
    capsys.readouterr()
    cut(misleading / "learned", misleading / "again", "0,2,4", learn=lists)
    told = capsys.readouterr().out
    assert "by the weights it had 100.0%. The learned weights are not kept." in told
    assert "IDF" not in told


@pytest.mark.parametrize("content", ["", "\n\n  \n"])
def test_a_file_without_texts_is_refused(cascade_folder, tmp_path, content):
    (tmp_path / "empty.txt").write_text(content)
    with pytest.raises(CascadaError) as caught:
        cut(cascade_folder, tmp_path / "out", "0,4", tmp_path / "empty.txt")
    assert str(caught.value) == f"{tmp_path / 'empty.txt'} has no texts."
    with pytest.raises(CascadaError, match="There are no texts to compute the IDF of exit 0 from"):
        write(cascade_folder, (0, 4), tmp_path / "out", texts=content.split("\n"))
    assert not (tmp_path / "out").exists()


def test_texts_are_refused_without_exit_0(cascade_folder, tmp_path):
    (tmp_path / "texts.txt").write_text("bada\n")
    with pytest.raises(CascadaError, match=r"Texts are what exit 0 takes IDF from: have it among the exits"):
        cut(cascade_folder, tmp_path / "out", "4", tmp_path / "texts.txt")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"exits": "4", "learn": "lists"}, "have it among the exits"),
        ({"exits": "0,4", "check": "lists"}, "say what to learn from"),
    ],
)
def test_learning_needs_exit_0_and_lists(cascade_folder, misleading, arguments, sentence):
    files = {name: str(misleading / "lists.jsonl") if value == "lists" else value for name, value in arguments.items()}
    with pytest.raises(CascadaError, match=sentence):
        cut(cascade_folder, misleading / "out", texts=misleading / "texts.txt", **files)
    assert not (misleading / "out").exists()
