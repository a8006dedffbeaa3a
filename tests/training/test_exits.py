"""Training a cascade: which exits an update trains, and that they all learn."""

from collections import Counter

import pytest
import torch
from trained import history, weights

from cascada.core.errors import CascadaError
from cascada.objectives.losses import distill
from cascada.ranking import Ranker
from cascada.systems.cascade import folder as checkpoint
from cascada.training.exits import early_bias, exit_plan
from cascada.training.run import train
from cascada.training.settings import TrainingSettings

EXITS = (4, 6, 8, 10, 12)
CASCADE = {"layers": 4, "exits": [2, 3, 4], "head": "mean"}


def plan(sample, updates=5000, **settings):
    return exit_plan(EXITS, TrainingSettings(exits={"sample": sample}, **settings), updates)


def test_one_exit_at_a_time_all_equally_often():
    counts = Counter(plan("uniform")(update) for update in range(5000))
    assert set(counts) == {(exit,) for exit in EXITS}
    assert all(900 < count < 1100 for count in counts.values())


@pytest.mark.parametrize("sample", ["uniform", "early"])
def test_the_exits_are_known_from_the_seed_alone(sample):
    one, again, other = plan(sample), plan(sample), plan(sample, seed=2)
    assert [one(update) for update in range(99)] == [again(update) for update in range(99)]
    assert [one(update) for update in range(99)] != [other(update) for update in range(99)]


def test_in_turn_and_all_at_once():
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


def test_distillation_is_least_where_both_agree():
    teacher = torch.tensor([[2.0, -1.0], [0.0, 3.0]], requires_grad=True)
    own = torch.zeros(2, 2, requires_grad=True)
    assert distill(teacher.detach() + 5, teacher).item() == pytest.approx(0, abs=1e-6)  # only differences count
    loss = distill(own, teacher, temperature=2.0)
    expected = [(p * (p / 0.5).log()).sum() for p in torch.softmax(teacher.detach() / 2, -1)]
    assert loss.item() == pytest.approx(4 * torch.stack(expected).mean().item(), rel=1e-5)
    loss.backward()
    assert teacher.grad is None
    assert own.grad.abs().sum() > 0


HOW = {
    "uniform": {},
    "in turn": {"sample": "round-robin"},
    "early": {"sample": "early"},
    "all": {"sample": "all"},
    "apart": {"sample": "all", "gradient": "exit-before"},
    "distilled": {"distill": 0.5, "temperature": 2.0},
}


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_every_exit_learns(recipe, how):
    folder = train(recipe(model=CASCADE, epochs=12, learning_rate=3e-3, evaluations_per_epoch=1, exits=how))
    last = history(folder)["dev"][-1]
    assert last["MAP"] > 0.9
    assert min(last["MAP@2"], last["MAP@3"]) > 0.7  # guessing gives .46
    assert Ranker.load(folder).exits == (2, 3, 4)


def test_a_killed_cascade_goes_on_with_the_exits_it_had_come_to(recipe, monkeypatch):
    settings = {"epochs": 2, "checkpoint_every": 2}
    whole = train(recipe("whole", CASCADE, **settings))

    from cascada.training.trainer import RankerTrainer

    real, done = RankerTrainer.compute_loss, []

    def killed(self, *args, **options):
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(self.learner.exits_at(self.state.global_step))
        return real(self, *args, **options)

    monkeypatch.setattr(RankerTrainer, "compute_loss", killed)
    with pytest.raises(KeyboardInterrupt):
        train(recipe("stopped", CASCADE, **settings))
    monkeypatch.setattr(RankerTrainer, "compute_loss", real)
    assert weights(train(recipe("stopped", CASCADE, **settings))) == weights(whole)
    assert len(set(done)) > 1


def test_a_cascade_starts_from_what_a_monolithic_ranker_learned(recipe):
    before = train(recipe("mono", {"layers": 4, "head": "mean"}, epochs=1))
    model = checkpoint.begin(str(before), exits=(2, 4), head="mean", max_length=32)
    trained = checkpoint.load(before).state_dict()
    own = model.state_dict()
    assert model.shape.exits == (2, 4)
    assert all(torch.equal(own[name], trained[name]) for name in trained)
    assert {name.split(".")[1] for name in own.keys() - trained.keys()} == {"2"}


def test_default_exits_are_the_papers(encoder_folder):
    assert checkpoint.begin(str(encoder_folder), exits="default").shape.exits[-1] == 4
    with pytest.raises(CascadaError, match="The last exit is at layer 3, but layers is 4"):
        checkpoint.begin(str(encoder_folder), exits=(2, 3), layers=4)


def test_an_exit_alone_ranks_as_it_did_in_the_cascade(cascade_folder, tmp_path, words):
    cascade = Ranker.load(cascade_folder)
    texts = [" ".join(words[start : start + 3 + start % 4]) for start in range(0, 40, 2)]
    ranking = cascade.rank("ba da", texts, drop=0)
    for place, exit in enumerate(cascade.exits):
        checkpoint.cut(cascade_folder, [exit], tmp_path / str(exit))
        alone = Ranker.load(tmp_path / str(exit))
        assert alone.exits == (exit,)
        scores = {item.index: item.raw_score for item in alone.rank("ba da", texts)}
        assert all(scores[item.index] == pytest.approx(item.scores[place], abs=1e-5) for item in ranking)


def test_an_exit_that_is_not_there_cannot_be_kept(cascade_folder, tmp_path):
    with pytest.raises(CascadaError, match="has no exit at layer 9; it has"):
        checkpoint.cut(cascade_folder, [9], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(CascadaError, match="is a ranker already"):
        checkpoint.cut(cascade_folder, checkpoint.load(cascade_folder).shape.exits[:1], cascade_folder)
