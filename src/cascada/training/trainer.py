"""The field's trainer, taught three things: batches by token budget, our measures, checkpoints that survive a kill."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import gather_object
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader
from transformers import PrinterCallback, Trainer, TrainerControl, TrainingArguments

from cascada.core.errors import CascadaError
from cascada.data import Group, qrels
from cascada.metrics import evaluate
from cascada.ranking.runs import exit_runs
from cascada.training.batches import BatchPlan
from cascada.training.learner import Learner, RankerLearner
from cascada.training.run_folder import last_complete, mark_complete, processes_of
from cascada.training.schedule import learning_rate
from cascada.training.settings import TrainingSettings

NEVER = 10**9
"""Steps: evaluation and saving are asked for by `Marks`, not by the trainer's own counting."""


class LearnerTrainer(Trainer):  # type: ignore[misc]
    """Trains a model and watches how well it does on a dev set."""

    control: TrainerControl
    loss_is_scaled_for_ga = False
    measure: str
    """The one that chooses the best checkpoint."""

    def __init__(
        self,
        learner: Learner,
        dev: list[Any],
        settings: TrainingSettings,
        folder: Path,
        *,
        watch: list[Any] | None = None,
    ) -> None:
        args = arguments(settings, folder, some_unused=learner.some_unused, measure=self.measure)
        super().__init__(model=learner.model, args=args, train_dataset=learner.examples, eval_dataset=dev)
        self.remove_callback(PrinterCallback)
        self.learner = learner
        self.dev = dev
        self.watch = watch
        self.settings = settings
        self.plan = BatchPlan(learner.examples, settings, rank=self.args.process_index, world=self.args.world_size)
        learner.start(-(-len(self.plan) // settings.batch.accumulate))
        self._parts: dict[str, list[Tensor]] = {}
        self._started: float | None = None

    def resume(self) -> None:
        """Train to the end, from the last checkpoint if there is one."""
        checkpoint = last_complete(Path(self.args.output_dir))
        processes = self.args.world_size
        if checkpoint and processes_of(checkpoint) != processes:  # who would cut the epochs into other batches
            raise CascadaError(
                f"This run was started with {processes_of(checkpoint)} processes and cannot go on with {processes}."
            )
        self.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)

    def get_train_dataloader(self) -> DataLoader[int]:
        examples = self.learner.examples
        return DataLoader(examples, batch_sampler=self.plan, collate_fn=examples.collate)

    def create_optimizer(self, *args: Any, **kwargs: Any) -> torch.optim.Optimizer:
        """The field's own, with the weights apart that have a rate of their own."""
        new = self.optimizer is None
        optimizer: torch.optim.Optimizer = super().create_optimizer(*args, **kwargs)
        for name, rate in self.learner.rates.items() if new else ():
            weight = self.model.get_parameter(name)
            for group in optimizer.param_groups:
                group["params"] = [one for one in group["params"] if one is not weight]
            optimizer.add_param_group({"params": [weight], "lr": rate, "weight_decay": 0.0})
        return optimizer

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> LambdaLR:
        self.lr_scheduler = LambdaLR(optimizer or self.optimizer, learning_rate(self.settings, num_training_steps))
        self._created_lr_scheduler = True
        return self.lr_scheduler

    def compute_loss(self, model: nn.Module, inputs: dict[str, Tensor], *args: Any, **kwargs: Any) -> Tensor:
        _ = self.seconds  # the clock starts with the first batch
        loss, parts = self.learner.loss(model, inputs, self.state.global_step)
        for name, part in parts.items():
            self._parts.setdefault(name, []).append(part.detach())
        if not torch.isfinite(loss):
            raise CascadaError(
                f"The loss is {loss.item()} at update {self.state.global_step + 1}: training diverged; "
                "a lower training.learning_rate or a longer training.warmup may help."
            )
        return loss

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Beside the loss, the mean of each of its parts since it was logged last."""
        if "loss" in logs:
            logs |= {f"loss_{name}": torch.stack(values).mean().item() for name, values in self._parts.items()}
            self._parts = {}
        super().log(logs, *args, **kwargs)

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Measure the dev set, and the watched one if there is one."""
        metrics = {f"eval_{name}": value for name, value in self._measure(self.dev).items()}
        if self.watch:
            metrics |= {f"eval_watch_{name}": value for name, value in self._measure(self.watch).items()}
        metrics["eval_seconds"] = self.seconds
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _measure(self, dev: list[Any]) -> dict[str, float]:
        """The measures of a set, the one that is watched among them."""
        raise NotImplementedError

    @property
    def seconds(self) -> float:
        """Time trained, over all the times the run was taken up again."""
        if self._started is None:
            before = [row["eval_seconds"] for row in self.state.log_history if "eval_seconds" in row]
            self._started = time.monotonic() - (before[-1] if before else 0.0)
        return time.monotonic() - self._started

    def _save_checkpoint(self, model: nn.Module, trial: Any) -> None:
        folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
        try:
            super()._save_checkpoint(model, trial)
            self.accelerator.wait_for_everyone()  # each process writes its own random state
            if self.args.should_save:
                mark_complete(folder, processes=self.args.world_size, best=self.state.best_model_checkpoint)
        except (OSError, RuntimeError, SafetensorError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise CascadaError(
                f"The checkpoint {folder} could not be written ({error}); "
                "the same command goes on from the one before it."
            ) from error


class RankerTrainer(LearnerTrainer):
    """Trains a ranker of any kind and watches MAP on the dev groups, which must have ids."""

    measure = "MAP"
    learner: RankerLearner

    def _measure(self, groups: list[Group]) -> dict[str, float]:
        """Rank the groups, each process its share, and measure: the last exit, and the others' MAP beside it."""
        self.model.eval()
        share = groups[self.args.process_index :: self.args.world_size]
        ranker = self.learner.ranker()
        runs = exit_runs(ranker, share)
        if self.args.world_size > 1:
            parts = gather_object([runs])
            runs = [{name: scores for part in parts for name, scores in part[at].items()} for at in range(len(runs))]
        *early, last = (evaluate(run, qrels(groups)).mean for run in runs)
        return last | {f"MAP@{exit}": mean["MAP"] for exit, mean in zip(ranker.exits, early, strict=False)}


def arguments(settings: TrainingSettings, folder: Path, *, some_unused: bool, measure: str) -> TrainingArguments:
    """`some_unused`: an update leaves weights out, which several processes have to agree on. `measure` is watched."""
    on_cpu = not torch.cuda.is_available()
    return TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=1,  # the plan is one sequence of batches over all epochs
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.max_gradient,
        gradient_accumulation_steps=settings.batch.accumulate,
        optim="adamw_torch_fused",
        eval_strategy="steps",
        eval_steps=NEVER,
        save_strategy="steps",
        save_steps=NEVER,
        load_best_model_at_end=True,
        metric_for_best_model=measure,
        greater_is_better=True,
        logging_steps=10,
        seed=settings.seed,
        use_cpu=on_cpu,
        ddp_backend="gloo" if on_cpu and int(os.environ.get("WORLD_SIZE", "1")) > 1 else None,
        ddp_find_unused_parameters=some_unused,
        dataloader_pin_memory=not on_cpu,
        remove_unused_columns=False,
        disable_tqdm=True,
        report_to="none",
    )
