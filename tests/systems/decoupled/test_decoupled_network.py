"""The decoupled network: two sides that are joined, and the interactions above the join."""

import dataclasses
import json
from itertools import pairwise

import pytest
import torch

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import load_encoder
from cascada.encoders.families import additive_mask
from cascada.systems.decoupled.folder import begin, load, save
from cascada.systems.decoupled.meeting import JoinExit, late_interaction
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.shape import DecoupledShape
from cascada.systems.decoupled.towers import CHUNK

SHAPES = {
    "dc-bert": {"join": 4, "exits": (5,)},
    "two layers": {"join": 4, "exits": (6,), "towers": "shared"},
    "linear": {"join": 4, "exits": (5,), "interaction": "linear"},
    "lstm": {"join": 4, "exits": (5,), "interaction": "lstm"},
    "cascade": {"join": 2, "exits": (2, 3, 4), "keep": 8},
    "late interaction": {"join": 2, "exits": (2, 3, 4), "match": "late"},
}


def model_of(folder, **shape):
    torch.manual_seed(3)
    return DecoupledRanker(load_encoder(folder), DecoupledShape(**{"max_length": 24, "question_length": 8, **shape}))


def inputs(rows=4, tokens=9, question_of=(0, 0, 1, 1), seed=0):
    generator = torch.Generator().manual_seed(seed)
    question = torch.randint(5, 200, (2, 5), generator=generator)
    text = torch.randint(5, 200, (rows, tokens), generator=generator)
    lengths = torch.tensor([tokens, 4, 6, 2])[:rows]
    return {
        "question": question,
        "question_mask": torch.arange(5) < torch.tensor([[5], [3]]),
        "text": text,
        "text_mask": torch.arange(tokens) < lengths[:, None],
        "question_of": torch.tensor(question_of),
    }


@pytest.fixture(params=SHAPES.values(), ids=SHAPES)
def model(request, encoder_folder):
    return model_of(encoder_folder, **request.param)


def test_the_gradient_reaches_both_sides_and_everything_between_them(model):
    exits = model.shape.exits
    logits = model(**inputs(), exits=exits)
    assert {exit: tuple(one.shape) for exit, one in logits.items()} == dict.fromkeys(exits, (4, 2))
    torch.stack([one[:, 1].exp() for one in logits.values()]).sum().backward()
    without = [name for name, weight in model.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert without == []


def test_scores_added_to_the_cosine_start_at_zero_and_train_it_too(encoder_folder):
    model = model_of(encoder_folder, join=2, exits=(2, 3, 4), scores="added").eval()
    logits = model(**inputs(), exits=(2, 3, 4))
    assert torch.equal(logits[3], logits[2])
    assert torch.equal(logits[4], logits[2])
    assert torch.equal(model(**inputs())[4], logits[2]), "also where the cosine exit is not question_of for"
    logits[4][:, 1].sum().backward()
    assert model.cosine.log_scale.grad
    assert model.classifiers["4"][-1].weight.grad.any()
    apart = model_of(encoder_folder, join=2, exits=(2, 3, 4), scores="added")
    apart(**inputs(), exits=(4,), stop_gradient=True)[4][:, 1].sum().backward()
    assert apart.cosine.log_scale.grad is None, "an exit's gradient stops at the exit before it"


def test_without_an_exit_at_the_join_there_is_no_cosine_to_add_to():
    with pytest.raises(CascadaError, match=r"exits \(4,\) have none at the join, 2"):
        DecoupledShape(join=2, exits=(4,), scores="added")


def test_its_loss_falls_on_a_few_pairs(model):
    labels = torch.tensor([0, 1, 1, 0])
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    losses = []
    for _ in range(25):
        logits = model(**inputs(), exits=model.shape.exits)
        loss = torch.stack([torch.nn.functional.cross_entropy(one, labels) for one in logits.values()]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]


def test_neither_padding_nor_the_other_pairs_change_a_score(model):
    model.eval()
    whole = inputs()
    with torch.inference_mode():
        together = model(**whole, exits=model.shape.exits)
        for row in range(4):
            question_of = int(whole["question_of"][row])
            n, m = int(whole["question_mask"][question_of].sum()), int(whole["text_mask"][row].sum())
            alone = model(
                whole["question"][question_of : question_of + 1, :n],
                whole["question_mask"][question_of : question_of + 1, :n],
                whole["text"][row : row + 1, :m],
                whole["text_mask"][row : row + 1, :m],
                torch.tensor([0]),
                exits=model.shape.exits,
            )
            for exit, logits in alone.items():
                torch.testing.assert_close(logits[0], together[exit][row], atol=2e-5, rtol=1e-4)


def test_a_long_batch_has_the_scores_of_its_texts_alone(model):
    """A tower runs a chunk of texts of similar length at a time."""
    random = torch.Generator().manual_seed(3)
    lengths = torch.randint(3, 12, (CHUNK + 7,), generator=random)
    text = torch.randint(5, 40, (len(lengths), int(lengths.max())), generator=random)
    mask = torch.arange(text.shape[1]) < lengths[:, None]
    with torch.no_grad():
        together = model.eval().encode_document(text, mask)
        for row, length in enumerate(lengths.tolist()):
            alone = model.encode_document(text[row : row + 1, :length], mask[row : row + 1, :length])
            torch.testing.assert_close(together[row, :length], alone[0], atol=1e-5, rtol=1e-4)


def test_interaction_layers_start_as_the_encoders_last_ones(encoder_folder):
    encoder = load_encoder(encoder_folder)
    for join, exits, expected in ((4, (5,), [3]), (4, (6,), [2, 3]), (2, (4,), [2, 3]), (1, (3,), [1, 2])):
        model = model_of(encoder_folder, join=join, exits=exits)
        assert (model.document.depth, model.question.depth) == (join, join)
        for own, number in zip(model.interaction.layers, expected, strict=True):
            for weight, start in zip(own.parameters(), encoder.layers[number].parameters(), strict=True):
                assert torch.equal(weight, start)


def test_global_embeddings_start_as_the_encoders_and_documents_at_a_fixed_place(encoder_folder):
    own = load_encoder(encoder_folder).encoder.embeddings
    meet = model_of(encoder_folder, join=4, exits=(5,)).meet
    positions, types = own.position_embeddings.weight, own.token_type_embeddings.weight
    zeros = torch.zeros(1, 3, 32)
    torch.testing.assert_close(meet.question(zeros)[0], positions[:3] + types[0])
    torch.testing.assert_close(meet.document(zeros)[0], positions[8:11] + types[1])


@pytest.mark.parametrize("name", ["minilm", "roberta", "xlm-roberta", "distilbert", "electra", "albert"])
def test_every_encoder_with_positions_of_its_own_will_do(encoder_folders, name):
    model = model_of(encoder_folders[name], join=2, exits=(2, 4)).eval()
    with torch.inference_mode():
        assert all(torch.isfinite(one).all() for one in model(**inputs(), exits=(2, 4)).values())


@pytest.mark.parametrize("name", ["bert", "roberta", "distilbert", "electra", "albert"])
def test_the_last_layer_of_the_first_tokens_alone_is_that_of_all_tokens(encoder_folders, name):
    model = model_of(encoder_folders[name], join=2, exits=(3, 4)).eval()
    states, second = torch.randn(3, 7, 32, generator=torch.Generator().manual_seed(4)), torch.tensor([2, 3, 2])
    mask = torch.arange(7) < torch.tensor([[7], [5], [4]])
    with torch.inference_mode():
        _, found = model.interaction(states, mask, second, 0, 2)
        for layer in model.interaction.layers:
            states = layer(states, additive_mask(mask, states.dtype))
            states = states[0] if isinstance(states, tuple) else states
    expected = torch.cat((states[:, 0], states[torch.arange(3), second]), 1)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(("start", "least", "most"), [("matching", 0.6, 1.0), ("copy", 0.0, 0.2)])
def test_with_a_start_by_matching_a_token_attends_to_its_like(encoder_folder, start, least, most):
    model = model_of(encoder_folder, join=1, exits=(2,), towers="shared").eval()
    with torch.no_grad():
        for positions in (model.document.encoder.embeddings.position_embeddings.weight, model.meet.positions):
            positions.mul_(0.2)  # random positions of a tiny encoder say as much as its words
        words = torch.randperm(200, generator=torch.Generator().manual_seed(3)) + 140
        question, document = words[None, :6], words[None, torch.tensor([8, 3, 9, 0, 10, 5, 1, 11, 4, 2])]
        ones = [torch.ones_like(ids, dtype=torch.bool) for ids in (question, document)]
        asked = model.meet.question(model.encode_question(question, ones[0]))[0]
        read = model.meet.document(model.encode_document(document, ones[1]))[0]
        if start == "matching":
            model.interaction.start_by_matching(asked, read)
        own = model.interaction.layers[0].attention.self
        query, key = (
            part(side).unflatten(-1, (4, 8)).transpose(0, 1) for part, side in ((own.query, asked), (own.key, read))
        )
        attention = (query @ key.mT / 8**0.5).softmax(-1).mean(0)  # (question tokens, document tokens)
    same = question[0][:, None] == document
    assert same.sum() == 6
    assert least < attention[same].mean() < most


def test_dropout_comes_to_the_first_tokens_too(encoder_folder):
    model = model_of(encoder_folder, join=4, exits=(5,)).train()
    states, mask, second = torch.randn(2, 5, 32), torch.ones(2, 5, dtype=torch.bool), torch.tensor([2, 2])
    assert not torch.equal(*(model.interaction(states, mask, second, 0, 1)[1] for _ in range(2)))


def test_a_document_may_be_compared_with_several_questions_and_come_encoded(model):
    model.eval()
    few, exits = inputs(rows=2), model.shape.exits
    question_of, document_of = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 0, 1])
    both = {name: few[name][document_of] for name in ("text", "text_mask")}
    with torch.inference_mode():
        expected = model(**{**few, **both, "question_of": question_of}, exits=exits)
        encoded = model.encode_document(few["text"], few["text_mask"])
        for text in (few["text"], encoded):
            found = model(**{**few, "text": text, "question_of": question_of, "document_of": document_of}, exits=exits)
            for exit in exits:
                torch.testing.assert_close(found[exit], expected[exit], atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("name", ["mpnet", "modernbert", "deberta-v2", "deberta-v2-conv"])
def test_layers_that_read_relative_positions_cannot_read_both_sides(encoder_folders, name):
    with pytest.raises(CascadaError, match="relative positions"):
        model_of(encoder_folders[name], join=2, exits=(4,))


def test_the_gradient_can_be_stopped_at_the_exit_before(encoder_folder):
    model = model_of(encoder_folder, join=2, exits=(2, 3, 4))
    model(**inputs(), exits=(4,), stop_gradient=True)[4].sum().backward()
    trained = {name for name, weight in model.named_parameters() if weight.grad is not None and weight.grad.any()}
    assert trained
    assert all(name.startswith(("interaction.layers.1.", "classifiers.4.")) for name in trained)


def test_a_teaching_exit_has_no_gradient(encoder_folder):
    model = model_of(encoder_folder, join=2, exits=(2, 4))
    logits = model(**inputs(), exits=(2,), teacher=True)
    assert set(logits) == {2, 4}
    assert logits[2].requires_grad
    assert not logits[4].requires_grad


@pytest.mark.parametrize("pairs", [[(0, 0), (1, 2)], [(0, 0), (0, 1), (1, 2), (1, 1)]], ids=["few", "most pairs"])
def test_late_interaction_is_the_mean_of_each_own_tokens_best_cosine(pairs):
    torch.manual_seed(0)
    questions, documents = torch.randn(2, 5, 6), torch.randn(3, 7, 6)
    question_lengths, document_lengths = [5, 4], [7, 3, 5]
    question_mask, document_mask = (
        torch.arange(longest) < torch.tensor(lengths)[:, None]
        for longest, lengths in ((5, question_lengths), (7, document_lengths))
    )
    question_of, document_of = (torch.tensor(rows) for rows in zip(*pairs, strict=True))
    scores = late_interaction((questions, question_mask, question_of), (documents, document_mask, document_of))
    for score, (question, document) in zip(scores, pairs, strict=True):
        own = questions[question, 1 : question_lengths[question] - 1]  # without the special tokens at both ends
        cosines = torch.cosine_similarity(own[:, None], documents[document, None, : document_lengths[document]], dim=-1)
        torch.testing.assert_close(score, cosines.amax(1).mean())


def test_a_question_of_special_tokens_alone_is_compared_by_them():
    questions, mask = torch.randn(1, 2, 6), torch.ones(1, 2, dtype=bool)
    row = torch.zeros(1, dtype=torch.int64)
    assert late_interaction((questions, mask, row), (questions, mask, row)).item() == pytest.approx(1)


def test_a_higher_similarity_is_a_higher_score_whatever_was_learned():
    exit = JoinExit()
    for log_scale, shift in ((2.3, -5.0), (-4.0, 3.0), (0.0, 0.0)):
        exit.log_scale.data.fill_(log_scale)
        exit.shift.data.fill_(shift)
        scores = exit(torch.linspace(1, -1, 7))
        margins = (scores[:, 1] - scores[:, 0]).tolist()
        assert all(before > after for before, after in pairwise(margins))


def test_at_first_the_projection_gives_back_what_lies_in_it(encoder_folder):
    model = model_of(encoder_folder, join=2, exits=(4,), keep=8)
    kept = torch.randn(3, 8)
    torch.testing.assert_close(model.down(model.up(kept)), kept, atol=1e-5, rtol=1e-4)


def test_a_saved_model_comes_back(model, encoder_folder, tmp_path):
    save(model.eval(), tmp_path / "run", tokenizer=encoder_folder, card="# A card\n")
    back = load(tmp_path / "run")
    assert back.shape == model.shape
    with torch.inference_mode():
        for exit, logits in back(**inputs(), exits=model.shape.exits).items():
            assert torch.equal(logits, model(**inputs(), exits=model.shape.exits)[exit])


def test_the_fingerprint_is_that_of_what_documents_go_through(encoder_folder, tmp_path):
    def mark(change):
        model = model_of(encoder_folder, join=2, exits=(2, 4), keep=8)
        with torch.no_grad():
            change(model)
        save(model, tmp_path / "run", tokenizer=encoder_folder, card="")
        return json.loads((tmp_path / "run" / "cascada.json").read_text())["fingerprint"]

    same = mark(lambda model: None)
    assert mark(lambda model: model.question.layers[0].output.dense.weight.add_(1)) == same
    assert mark(lambda model: model.classifiers["4"][1].weight.add_(1)) == same
    assert mark(lambda model: model.document.layers[0].output.dense.weight.add_(1)) != same
    assert mark(lambda model: model.down.weight.add_(1)) != same


def test_it_starts_from_a_trained_cascades_layers(cascade_folder):
    from cascada.systems.cascade.folder import load as load_cascade

    model = begin(str(cascade_folder), DecoupledShape(2, (4,), max_length=24))
    before = load_cascade(cascade_folder).encoder.layers
    for own, start in ((model.document.layers[1], before[1]), (model.interaction.layers[1], before[3])):
        assert all(torch.equal(*pair) for pair in zip(own.parameters(), start.parameters(), strict=True))


def test_it_continues_from_a_decoupled_ranker_of_its_own_shape(encoder_folder, tmp_path):
    before = model_of(encoder_folder, join=2, exits=(2, 3, 4))
    save(before, tmp_path, tokenizer=encoder_folder, card="")
    model = begin(str(tmp_path), DecoupledShape(2, (3,), max_length=24, question_length=8))
    weights = before.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items())
    with pytest.raises(CascadaError, match="another shape"):
        begin(str(tmp_path), DecoupledShape(3, (4,), max_length=24, question_length=8))


def test_a_shared_tower_may_become_two(encoder_folder, tmp_path):
    before = model_of(encoder_folder, join=2, exits=(2,), towers="shared")
    save(before, tmp_path, tokenizer=encoder_folder, card="")
    model = begin(str(tmp_path), DecoupledShape(2, (3,), towers="two", max_length=24, question_length=8))
    shared = before.document.state_dict()
    for tower in (model.question, model.document):
        assert all(torch.equal(value, shared[name]) for name, value in tower.state_dict().items())
    save(model, tmp_path / "two", tokenizer=encoder_folder, card="")
    with pytest.raises(CascadaError, match="two towers where it has a shared one"):
        begin(str(tmp_path / "two"), dataclasses.replace(model.shape, towers="shared"))


def test_another_interaction_keeps_the_towers_of_the_ranker_it_continues_from(encoder_folder, tmp_path):
    before = model_of(encoder_folder, join=2, exits=(2, 3))
    save(before, tmp_path, tokenizer=encoder_folder, card="")
    model = begin(str(tmp_path), DecoupledShape(2, (3,), interaction="lstm", max_length=24, question_length=8))
    weights = before.state_dict()
    same = {name for name, value in model.state_dict().items() if name in weights and torch.equal(value, weights[name])}
    assert {name.split(".")[0] for name in same} == {"document", "question", "meet"}
    assert same >= {name for name in weights if name.startswith(("document.", "question.", "meet."))}


def test_a_ranker_with_added_scores_may_continue_from_one_without(encoder_folder, tmp_path):
    before = model_of(encoder_folder, join=2, exits=(2, 3))
    save(before, tmp_path, tokenizer=encoder_folder, card="")
    model = begin(str(tmp_path), DecoupledShape(2, (2, 3), scores="added", max_length=24, question_length=8)).eval()
    logits, expected = model(**inputs(), exits=(2, 3)), before.eval()(**inputs(), exits=(2,))[2]
    assert torch.equal(logits[2], expected)
    assert torch.equal(logits[3], expected), "its classifier starts from scratch, at zero"


def test_further_layers_start_as_the_last_layers_of_the_tower(encoder_folder, tmp_path):
    before = model_of(encoder_folder, join=4, exits=(4, 5))
    with torch.no_grad():
        before.document.layers[3].output.dense.weight.add_(1)  # as if trained
        before.interaction.layers[0].output.dense.weight.add_(1)
    save(before, tmp_path, tokenizer=encoder_folder, card="")
    model = begin(str(tmp_path), DecoupledShape(4, (4, 6), max_length=24, question_length=8))
    weights, begun = before.state_dict(), model.state_dict()
    kept = [name for name in weights if not name.startswith("classifiers.")]
    assert all(torch.equal(begun[name], weights[name]) for name in kept)
    above = zip(model.interaction.layers[1].parameters(), before.document.layers[3].parameters(), strict=True)
    assert all(torch.equal(*pair) for pair in above)


MISTAKES = {
    "no join": ({"join": 0, "exits": (2,)}, "join is 0; it must be a whole number from 1"),
    "exits below the join": ({"join": 3, "exits": (2, 4), "match": "cosine"}, "late interaction only; match is cosine"),
    "the last exit below the join": ({"join": 3, "exits": (1, 2), "match": "late"}, "the last one at the join, 3"),
    "exits in no order": ({"join": 2, "exits": (4, 3)}, "rising order"),
    "no exit but 0": ({"join": 2, "exits": (0,)}, "the last one at the join, 2"),
    "no layer for an lstm": ({"join": 2, "exits": (0, 2), "interaction": "lstm"}, "the last, and no other, is above"),
    "too deep": ({"join": 5, "exits": (6,)}, "join is 5, but the encoder has 4 layers"),
    "too many layers": ({"join": 4, "exits": (9,)}, "5 layers above the join, but the encoder has 4"),
    "exits of an lstm": (
        {"join": 2, "exits": (3, 4), "interaction": "lstm"},
        "the last, and no other, is above the join",
    ),
    "towers": ({"join": 2, "exits": (3,), "towers": "three"}, "towers is 'three'; there are two, shared"),
    "interaction": ({"join": 2, "exits": (3,), "interaction": "none"}, "there are layers, linear, lstm"),
    "too long": (
        {"join": 2, "exits": (3,), "max_length": 505},
        "has 512 positions for both: set model.max_length to 504 or less",
    ),
    "keeping everything": ({"join": 2, "exits": (3,), "keep": 32}, "keep is 32, but it must be below 32"),
    "dropout": ({"join": 2, "exits": (3,), "dropout": 1.0}, "dropout is 1.0"),
}


@pytest.mark.parametrize(("shape", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_shape_that_cannot_be_is_reported_in_a_sentence(encoder_folder, shape, said):
    with pytest.raises(CascadaError, match=said):
        model_of(encoder_folder, **shape)


def test_a_damaged_folder_is_reported_in_a_sentence(encoder_folder, ranker_folder, tmp_path):
    save(model_of(encoder_folder, join=2, exits=(4,)), tmp_path, tokenizer=encoder_folder, card="")
    about = tmp_path / "cascada.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "wings": 2}))
    with pytest.raises(CascadaError, match="damaged"):
        load(tmp_path)
    with pytest.raises(CascadaError, match="is a transformer ranker; this needs a decoupled ranker"):
        load(ranker_folder)


def test_a_projection_that_starts_from_states_loses_nothing_of_their_principal_directions(encoder_folder):
    model = model_of(encoder_folder, join=2, exits=(2,), keep=8)
    torch.manual_seed(0)
    states = torch.randn(200, 8) @ torch.randn(8, 32) + 3 * torch.randn(32)
    model.start_projection(states)
    torch.testing.assert_close(model.up(model.down(states)), states, atol=1e-3, rtol=1e-3)
