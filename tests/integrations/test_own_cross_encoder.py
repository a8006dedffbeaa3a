"""A user of sentence-transformers' CrossEncoder changes the import, and the model gives the scores that it gave."""

import pytest
from torch import nn

from cascada.core.errors import CascadaError
from cascada.integrations.sentence_transformers import CrossEncoder


@pytest.mark.parametrize("activation", [nn.Sigmoid(), nn.Identity()])
def test_scores_are_sentence_transformers_own(cross_encoder_folder, tmp_path, words, activation):
    theirs = pytest.importorskip("sentence_transformers")
    model = theirs.CrossEncoder(
        str(cross_encoder_folder),
        device="cpu",
        activation_fn=activation,
        max_length=48,
        prompts={"ask": f"{words[9]} {words[8]}: "},
        default_prompt_name="ask",
    )
    folder = tmp_path / "model"
    model.save_pretrained(str(folder), create_model_card=False)
    pairs = [(words[0], " ".join(words[i : i + 1 + 40 * i])) for i in range(15)]
    own, replaced = theirs.CrossEncoder(str(folder), device="cpu"), CrossEncoder(folder, device="cpu")
    assert replaced.predict(pairs) == pytest.approx(own.predict(pairs), abs=1e-4)
    texts = [text for _, text in pairs]
    ranked = [row["corpus_id"] for row in replaced.rank(words[0], texts, top_k=5)]
    assert ranked == [row["corpus_id"] for row in own.rank(words[0], texts, top_k=5)]


def test_what_would_change_the_scores_is_refused(cross_encoder_folder):
    with pytest.raises(CascadaError, match="max_length is not supported"):
        CrossEncoder(cross_encoder_folder, max_length=16)
