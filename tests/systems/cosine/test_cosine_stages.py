"""An encoder without training ranks by the cosine of mean states, or by late interaction of all of them."""

import json
import shutil

import numpy as np
import pytest
import torch

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import load_encoder
from cascada.ranking import Ranker
from cascada.text.pairs import PairTokenizer


@pytest.fixture(scope="module")
def states(encoder_folder):
    """`states(text)`: the encoder's states of one text, special tokens included."""
    encoder = load_encoder(encoder_folder).eval()
    tokenizer = PairTokenizer.load(encoder_folder, max_length=256).tokenizer

    def of(text):
        own = tokenizer.encode(text)
        ids, types = torch.tensor([own.ids]), torch.tensor([own.type_ids])
        with torch.inference_mode():
            return encoder.run(encoder.embed(ids, types), torch.ones_like(ids, dtype=torch.bool), 0, 4)[0]

    return of


@pytest.fixture(scope="module")
def texts(words):
    return [" ".join(words[i : i + 1 + i * 5 % 40]) for i in range(20)]


def scores(name, question, texts):
    return next(iter(Ranker.load(name).exit_scores([(question, texts)])))[0]


def test_cosine_compares_the_means_of_the_tokens_states(encoder_folder, states, words, texts):
    question = f"{words[5]} {words[50]}"
    mean = states(question).mean(0)
    expected = [float(torch.cosine_similarity(mean, states(text).mean(0), dim=0)) for text in texts]
    np.testing.assert_allclose(scores(f"cosine:{encoder_folder}", question, texts), expected, atol=1e-5)


def test_late_interaction_takes_each_question_tokens_best_match(encoder_folder, states, words, texts):
    question = f"{words[5]} {words[50]}"
    own = states(question)[1:-1]  # without the special tokens
    expected = [
        float(torch.cosine_similarity(own[:, None], states(text)[None], dim=-1).amax(1).mean()) for text in texts
    ]
    np.testing.assert_allclose(scores(f"late:{encoder_folder}", question, texts), expected, atol=1e-5)


def test_the_prompts_of_a_sentence_transformers_folder_stand_before_question_and_text(encoder_folder, texts, tmp_path):
    folder = tmp_path / "encoder"
    shutil.copytree(encoder_folder, folder)
    config = folder / "config_sentence_transformers.json"
    config.write_text(json.dumps({"prompts": {"query": "bada ", "document": "bade bado "}}))
    plain = scores(f"late:{encoder_folder}", "bada bidi", [f"bade bado {text}" for text in texts])
    assert scores(f"late:{folder}", "bidi", texts) == pytest.approx(plain, abs=1e-6)
    config.write_text(json.dumps({"prompts": {"passage": "bade bado "}}))
    plain = scores(f"cosine:{encoder_folder}", "bidi", [f"bade bado {text}" for text in texts])
    assert scores(f"cosine:{folder}", "bidi", texts) == pytest.approx(plain, abs=1e-6)
    config.write_text('{"prompts": ["query"]}')
    with pytest.raises(CascadaError, match=r"config_sentence_transformers\.json is damaged"):
        Ranker.load(f"late:{folder}")


def test_questions_ranked_together_score_as_each_alone(encoder_folder, words, texts):
    ranker = Ranker.load(f"late:{encoder_folder}")
    groups = [(words[3], texts[:3]), (words[5], texts[3:])]
    together = [own[0] for own in ranker.exit_scores(groups)]
    alone = [next(iter(ranker.exit_scores([group])))[0] for group in groups]
    for own, one in zip(together, alone, strict=True):
        assert own == pytest.approx(one, abs=1e-5)


@pytest.mark.parametrize("system", ["cosine", "late"])
@pytest.mark.parametrize("name", ["bert", "albert", "electra"])
def test_a_teacher_in_bfloat16_gives_close_scores(encoder_folders, system, name, words, texts):
    ranker = f"{system}:{encoder_folders[name]}"
    expected = scores(ranker, words[5], texts)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = scores(ranker, words[5], texts)
    assert rounded == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("system", ["cosine", "late"])
def test_a_folder_without_an_encoder_is_reported_in_a_sentence(system, tmp_path):
    with pytest.raises(CascadaError, match=f"{system}:.* needs a folder with an encoder"):
        Ranker.load(f"{system}:{tmp_path}")
