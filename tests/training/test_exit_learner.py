"""Training a cascade: which exits an update trains, and that all of them learn."""

from collections import Counter

import pytest
import torch
from trained import history, weights

from cascada.objectives.losses import distill
from cascada.ranking import Ranker
from cascada.training.exit_learner import early_bias, exit_plan
from cascada.training.settings import ExitTraining
from cascada.training.single_run import train_model

EXITS = (4, 6, 8, 10, 12)
CASCADE = {"layers": 4, "exits": [2, 3, 4], "head": "mean"}


def plan(sample, updates=5000, **settings):
    return exit_plan(EXITS, ExitTraining(exits={"sample": sample}, **settings), updates)


def test_uniform_sampling_trains_all_exits_equally_often():
    counts = Counter(plan("uniform")(update) for update in range(5000))
    assert set(counts) == {(exit,) for exit in EXITS}
    assert all(900 < count < 1100 for count in counts.values())


@pytest.mark.parametrize("sample", ["uniform", "early"])
def test_the_sampled_exits_depend_on_the_seed_alone(sample):
    first, again, other = plan(sample), plan(sample), plan(sample, seed=2)
    assert [first(update) for update in range(99)] == [again(update) for update in range(99)]
    assert [first(update) for update in range(99)] != [other(update) for update in range(99)]


def test_exits_can_be_trained_in_turn_or_all_at_once():
    assert [plan("round-robin")(update) for update in range(6)] == [(4,), (6,), (8,), (10,), (12,), (4,)]
    assert plan("all")(17) == EXITS


def test_early_exits_are_preferred_until_the_bias_has_faded():
    early = plan("early")
    first = Counter(early(update) for update in range(500))
    assert first[(4,)] > 2 * first[(12,)]
    last = Counter(early(update) for update in range(2500, 5000))
    assert all(400 < count < 600 for count in last.values())
    assert early_bias(5, 0.0).tolist() == pytest.approx([5 / 15, 4 / 15, 3 / 15, 2 / 15, 1 / 15])
    assert early_bias(5, 1.0).tolist() == pytest.approx([0.2] * 5)


def test_the_encoders_dropout_is_set_and_that_of_the_heads_stays(recipe):
    import cascada.training.ranker_trainer as built
    from cascada.systems.cascade.learner import trainer

    learner = trainer(
        recipe("plain", model=CASCADE | {"dropout": 0.3}, encoder_dropout=0), built.Path("unused")
    ).learner
    shares = {name: part.p for name, part in learner.model.named_modules() if isinstance(part, torch.nn.Dropout)}
    assert {share for name, share in shares.items() if name.startswith("encoder.")} == {0.0}
    assert {share for name, share in shares.items() if name.startswith("heads.")} == {0.3}


def test_distillation_is_zero_where_both_agree():
    teacher = torch.tensor([[2.0, -1.0], [0.0, 3.0]], requires_grad=True)
    own = torch.zeros(2, 2, requires_grad=True)
    assert distill(teacher.detach() + 5, teacher).item() == pytest.approx(0, abs=1e-6)  # only differences count
    loss = distill(own, teacher, temperature=2.0)
    expected = [(p * (p / 0.5).log()).sum() for p in torch.softmax(teacher.detach() / 2, -1)]
    assert loss.item() == pytest.approx(4 * torch.stack(expected).mean().item(), rel=1e-5)
    loss.backward()
    assert teacher.grad is None
    assert own.grad.abs().sum() > 0


EXIT_SETTINGS = {
    "uniform": {},
    "round-robin": {"sample": "round-robin"},
    "early": {"sample": "early"},
    "all": {"sample": "all"},
    "last weighted": {"sample": "all", "last": 2.0},
    "stopped gradient": {"sample": "all", "gradient": "exit-before"},
    "distilled": {"distill": 0.5, "temperature": 2.0},
}


@pytest.mark.parametrize("exits", EXIT_SETTINGS.values(), ids=EXIT_SETTINGS)
def test_every_exit_learns(recipe, exits):
    epochs = 8 if exits.get("sample") == "all" else 12  # where an update trains one exit, each learns a third as often
    folder = train_model(recipe(model=CASCADE, epochs=epochs, learning_rate=3e-3, evaluations_per_epoch=1, exits=exits))
    last = history(folder)["dev"][-1]
    assert last["MAP"] > 0.9
    assert min(last["MAP@2"], last["MAP@3"]) > 0.7  # guessing gives .46
    assert Ranker.load(folder).exits == (2, 3, 4)


def test_a_resumed_cascade_trains_the_exits_it_would_have_trained(recipe, monkeypatch):
    settings = {"epochs": 2, "checkpoint_every": 2}
    whole = train_model(recipe("whole", CASCADE, **settings))

    from cascada.training.ranker_trainer import RankerTrainer

    real, done = RankerTrainer.compute_loss, []

    def killed(self, *args, **options):
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(self.learner.exits_at(self.state.global_step))
        return real(self, *args, **options)

    monkeypatch.setattr(RankerTrainer, "compute_loss", killed)
    with pytest.raises(KeyboardInterrupt):
        train_model(recipe("stopped", CASCADE, **settings))
    monkeypatch.setattr(RankerTrainer, "compute_loss", real)
    assert weights(train_model(recipe("stopped", CASCADE, **settings))) == weights(whole)
    assert len(set(done)) > 1


def test_the_last_exit_can_have_a_larger_share_of_the_loss():
    """With weight 3, the gradient of the last exit's loss is three times as large, and the others' stays."""
    from types import SimpleNamespace

    from cascada.training.exit_learner import ExitLearner

    def gradients(**exits):
        model = torch.nn.Linear(1, 2)
        torch.nn.init.ones_(model.weight)
        logits = {exit: torch.zeros(2, 2, requires_grad=True) for exit in EXITS}
        examples = SimpleNamespace(balance=1.0)
        learner = ExitLearner(model, EXITS, examples, ExitTraining(exits={"sample": "all", **exits}))
        learner.begin(10)
        inputs = {"labels": torch.tensor([0, 1]), "owner": torch.tensor([0, 0])}
        learner.loss(lambda **_: logits, inputs, 0)[0].backward()
        return {exit: float(output.grad.abs().sum()) for exit, output in logits.items()}

    plain, weighted = gradients(), gradients(last=3.0)
    assert weighted[12] == pytest.approx(3 * plain[12])
    assert [weighted[exit] for exit in EXITS[:-1]] == [plain[exit] for exit in EXITS[:-1]]


def test_a_weight_for_the_last_exit_needs_all_exits_in_an_update():
    with pytest.raises(ValueError, match="sample must be all, not uniform"):
        ExitTraining(exits={"last": 2.0})
