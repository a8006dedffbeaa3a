"""The replacement for sentence-transformers' CrossEncoder."""

import inspect

import numpy as np
import pytest

from cascada import Ranker
from cascada.integrations.sentence_transformers import CrossEncoder


@pytest.fixture(scope="module")
def model(cascade):
    return CrossEncoder(cascade)


@pytest.fixture(scope="module")
def real_class():
    """The real class; importing it takes seconds."""
    import sentence_transformers

    return sentence_transformers.CrossEncoder


def test_every_argument_of_the_real_one_is_taken_with_the_same_default(real_class):
    def arguments(of, method):
        return [
            (parameter.name, parameter.default)
            for parameter in inspect.signature(getattr(of, method)).parameters.values()
            if parameter.kind is not parameter.VAR_KEYWORD
        ]

    for method in ("predict", "rank"):
        assert arguments(CrossEncoder, method) == arguments(real_class, method)


def test_results_look_like_the_real_ones(model, real_class, encoder_folder, question, texts):
    real = real_class(str(encoder_folder), num_labels=1, device="cpu")
    real.tokenizer.pad_token = "[PAD]"
    pair = [(question, texts[0])]
    assert type(model.predict(pair)) is type(real.predict(pair)) is np.ndarray
    for options in ({}, {"top_k": 3, "return_documents": True}):
        ours, theirs = model.rank(question, texts, **options), real.rank(question, texts, **options)
        assert [types_of(result) for result in ours] == [types_of(result) for result in theirs]
    for pairs in ([], [(question, text) for text in texts], (question, texts[0])):
        ours, theirs = model.predict(pairs), real.predict(pairs)
        assert np.shape(ours) == np.shape(theirs)
        tensors = [encoder.predict(pairs, convert_to_tensor=True) for encoder in (model, real)]
        assert tensors[0].shape == tensors[1].shape


def types_of(result):
    return {key: type(value) for key, value in result.items()}


def test_rank_is_the_rankers_own(model, cascade, question, texts):
    results = model.rank(question, texts, top_k=4, return_documents=True)
    assert results == [
        {"corpus_id": item.index, "score": item.score, "text": item.text}
        for item in cascade.rank(question, texts, top=4)
    ]
    assert model.rank(question, []) == []


def test_pairs_of_many_questions_may_be_in_any_order(model, cascade, words, texts):
    questions = [words[i % 3] for i in range(len(texts))]
    scores = model.predict(list(zip(questions, texts, strict=True)))
    for row, (question, text) in enumerate(zip(questions, texts, strict=True)):
        assert scores[row] == pytest.approx(cascade.score(question, [text])[0], abs=1e-5)


def test_one_pair_is_one_score(model, cascade, question, texts):
    assert model.predict((question, texts[0])) == pytest.approx(cascade.score(question, texts[:1])[0])
    assert isinstance(model.predict([question, texts[0]], convert_to_numpy=False), float)


def test_with_drops_scores_sort_as_the_ranking_does(cascade, question, texts, dropped):
    model = CrossEncoder(cascade, drop=0.5)
    assert np.argsort(-model.predict([(question, text) for text in texts]), kind="stable").tolist() == dropped
    assert [result["corpus_id"] for result in model.rank(question, texts)] == dropped


def test_a_deadline_is_passed_on(cascade, question, texts):
    model = CrossEncoder(cascade, deadline_ms=0.001)
    first_exit = [item.index for item in cascade.rank(question, texts, deadline_ms=0.001)]
    assert [result["corpus_id"] for result in model.rank(question, texts)] == first_exit
    assert np.argsort(-model.predict([(question, text) for text in texts]), kind="stable").tolist() == first_exit
    assert first_exit != [item.index for item in cascade.rank(question, texts)]


def test_what_would_change_the_scores_is_rejected(model, question, texts):
    with pytest.raises(ValueError, match="activation_fn is not supported"):
        model.rank(question, texts, activation_fn=abs)
    with pytest.raises(ValueError, match="two strings"):
        model.predict([(question, texts[0], texts[1])])


def test_a_model_can_be_named():
    assert CrossEncoder("bm25").rank("hamlet", ["rain", "hamlet"])[0]["corpus_id"] == 1
    assert isinstance(CrossEncoder("bm25").ranker, Ranker)
