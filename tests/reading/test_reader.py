"""`Reader`: from a folder, questions and texts to spans."""

import json
import shutil

import numpy as np
import pytest

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.reading import Reader
from cascada.text.pairs import PairTokenizer
from cascada.text.windows import WindowTokenizer


@pytest.fixture(scope="module")
def reader(reader_folder):
    return Reader.load(reader_folder)


@pytest.fixture
def points_at(tokenizers, words):
    """`points_at(word)`: a reader whose start and end logits are `sure` on one word, and 0 elsewhere."""

    def make(word, sure=2.0):
        tokenizer = WindowTokenizer(PairTokenizer(tokenizers["bert"], max_length=20), overlap=4)
        known = tokenizers["bert"].token_to_id(word)

        def score(windows, rows):
            ids, _, _ = windows.encoded.padded(rows, 0)
            logits = ((ids == known) & windows.document_mask(rows)) * np.float32(sure)
            return np.stack([logits, logits], -1)

        return Reader(score, tokenizer)

    return make


def test_a_span_has_the_offsets_of_its_text(points_at, words):
    text = f"{words[1]} {words[2]}, {words[7].upper()}!"
    (span,) = points_at(words[7]).read("who?", [text])
    assert text[span.start : span.end] == span.text == words[7].upper()
    assert span.score == pytest.approx(1 / (1 + np.exp(-4)))  # two logits of 2 against none
    assert span.likely


def test_in_a_long_text_the_answer_is_found_in_any_window(points_at, words):
    others = words[20:120]
    for place in (0, 13, 50, 99):
        said = [*others[:place], words[7], *others[place:]]
        (span,) = points_at(words[7]).read("who?", [" ".join(said)])
        assert (span.text, span.start) == (words[7], len(" ".join([*said[:place], ""])))


def test_each_text_has_one_span_and_the_likeliest_is_first(points_at, words):
    texts = [words[1], "", words[7], f"{words[2]} {words[3]}", "   "]
    spans = points_at(words[7]).read("who?", texts)
    assert [span.document for span in spans] == [2, 0, 3]
    assert [span.likely for span in spans] == [True, True, True]
    assert [span.document for span in points_at(words[7]).read("who?", texts, top=1)] == [2]


def test_a_span_less_likely_than_no_answer_is_not_likely(points_at, words):
    (span,) = points_at(words[1], sure=-3.0).read("who?", [words[1]])
    assert not span.likely
    assert span.score == pytest.approx(1 / (1 + np.exp(6)))


def test_reading_many_equals_reading_one_by_one(reader, words):
    questions = [(" ".join(words[i : i + 2]), [" ".join(words[i : i + n]) for n in (1, 30, 5)]) for i in (0, 40)]
    questions.append(("bada", []))
    together = reader.read_many(questions)
    for (question, texts), spans in zip(questions, together, strict=True):
        alone = reader.read(question, texts)
        assert [(span.text, span.start, span.end, span.document) for span in spans] == [
            (span.text, span.start, span.end, span.document) for span in alone
        ]
        assert [span.score for span in spans] == pytest.approx([span.score for span in alone], abs=1e-5)
        assert all(texts[span.document][span.start : span.end] == span.text for span in spans)


def test_nothing_to_read_is_no_answer(reader):
    assert reader.read("bada?", []) == []
    assert reader.read("bada?", ["", " \n"]) == []


@pytest.mark.parametrize(
    ("question", "texts", "settings", "sentence"),
    [
        (" ", ["bada"], {}, "The question is empty."),
        (None, ["bada"], {}, "The question is empty."),
        ("who?", "bada", {}, "must be a list of strings"),
        ("who?", [None], {}, "must be a list of strings"),
        ("who?", ["bada"], {"top": 0}, "top is 0"),
    ],
)
def test_invalid_input_is_rejected(reader, question, texts, settings, sentence):
    with pytest.raises(CascadaError, match=sentence):
        reader.read(question, texts, **settings)


def test_a_folder_without_a_reader_is_rejected(ranker_folder, reader_folder, tmp_path):
    with pytest.raises(CascadaError, match="There is no folder"):
        Reader.load(tmp_path / "nowhere")
    with pytest.raises(CascadaError, match=r"is not a reader: it has no cascada\.json"):
        Reader.load(tmp_path)
    with pytest.raises(CascadaError, match="is not a reader but a ranker"):
        Reader.load(ranker_folder)
    with pytest.raises(CascadaError, match="is a reader: it finds short answers and does not rank"):
        Ranker.load(reader_folder)


def test_a_damaged_folder_is_rejected(reader_folder, tmp_path):
    broken = shutil.copytree(reader_folder, tmp_path / "broken")
    shape = json.loads((broken / "cascada.json").read_text())
    (broken / "cascada.json").write_text(json.dumps({**shape, "wings": 2}))
    with pytest.raises(CascadaError, match="is damaged"):
        Reader.load(broken)
    (broken / "cascada.json").write_text(json.dumps(shape))
    (broken / "model.safetensors").unlink()
    with pytest.raises(CascadaError, match="incomplete or damaged"):
        Reader.load(broken)
