"""The transformers `Trainer` with batches by token budget, Cascada's measures, and checkpoints that survive a kill."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader
from transformers import PrinterCallback, Trainer, TrainerControl, TrainingArguments

from cascada.core.errors import CascadaError
from cascada.training.batches import BatchPlan
from cascada.training.learner import Learner
from cascada.training.precision import products_in
from cascada.training.run_folder import last_complete, mark_complete, processes_of
from cascada.training.schedule import learning_rate
from cascada.training.settings import TrainingSettings

NEVER = 10**9
"""Steps: `EvaluationSchedule` asks for evaluations and checkpoints, not the trainer's own counter."""


class LearnerTrainer(Trainer):  # type: ignore[misc]
    """Trains a model and measures it on a dev set; subclasses say how."""

    control: TrainerControl
    loss_is_scaled_for_ga = False
    measure: str
    """The dev measure that selects the best checkpoint."""

    def __init__(
        self,
        learner: Learner,
        dev: list[Any],
        settings: TrainingSettings,
        folder: Path,
        *,
        watch: list[Any] | None = None,
    ) -> None:
        args = _arguments(settings, folder, unused=learner.has_unused_weights, measure=self.measure)
        super().__init__(model=learner.model, args=args, train_dataset=learner.examples, eval_dataset=dev)
        self.remove_callback(PrinterCallback)
        self.learner = learner
        self.dev = dev
        self.watch = watch
        self.settings = settings
        self.plan = BatchPlan(learner.examples, settings, rank=self.args.process_index, world=self.args.world_size)
        learner.begin(-(-len(self.plan) // settings.batch.accumulate))
        self._loss_parts: dict[str, list[Tensor]] = {}
        self._started: float | None = None

    def resume(self) -> None:
        """Train to the end, from the last checkpoint if there is one."""
        checkpoint = last_complete(Path(self.args.output_dir))
        processes = self.args.world_size
        if checkpoint and processes_of(checkpoint) != processes:  # another number cuts the epochs into other batches
            raise CascadaError(
                f"This run was started with {processes_of(checkpoint)} processes and cannot resume with {processes}."
            )
        self.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)

    def get_train_dataloader(self) -> DataLoader[int]:
        examples = self.learner.examples
        return DataLoader(examples, batch_sampler=self.plan, collate_fn=examples.collate)

    def create_optimizer(self, *args: Any, **kwargs: Any) -> torch.optim.Optimizer:
        """The default optimizer; weights with a learning rate of their own get their own parameter group."""
        new = self.optimizer is None
        optimizer: torch.optim.Optimizer = super().create_optimizer(*args, **kwargs)
        for name, rate in self.learner.learning_rates.items() if new else ():
            weight = self.model.get_parameter(name)
            for group in optimizer.param_groups:
                group["params"] = [other for other in group["params"] if other is not weight]
            optimizer.add_param_group({"params": [weight], "lr": rate, "weight_decay": 0.0})
        return optimizer

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> LambdaLR:
        self.lr_scheduler = LambdaLR(optimizer or self.optimizer, learning_rate(self.settings, num_training_steps))
        self._created_lr_scheduler = True
        return self.lr_scheduler

    def compute_loss(self, model: nn.Module, inputs: dict[str, Tensor], *args: Any, **kwargs: Any) -> Tensor:
        _ = self.seconds  # starts the clock with the first batch
        loss, parts = self.learner.loss(model, inputs, self.state.global_step)
        for name, part in parts.items():
            self._loss_parts.setdefault(name, []).append(part.detach())
        if not torch.isfinite(loss):
            raise CascadaError(
                f"The loss is {loss.item()} at update {self.state.global_step + 1}: training diverged; "
                "a lower training.learning_rate or a longer training.warmup may help."
            )
        return loss

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Add the mean of each part of the loss since the last log entry."""
        if "loss" in logs:
            logs |= {f"loss_{name}": torch.stack(values).mean().item() for name, values in self._loss_parts.items()}
            self._loss_parts = {}
        super().log(logs, *args, **kwargs)

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Measure the dev set, and the watched set if there is one."""
        with products_in(self.settings.precision):
            metrics = {f"eval_{name}": value for name, value in self._measure(self.dev).items()}
            if self.watch:
                metrics |= {f"eval_watch_{name}": value for name, value in self._measure(self.watch).items()}
        metrics["eval_seconds"] = self.seconds
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _measure(self, dev: list[Any]) -> dict[str, float]:
        """All measures of a data set, `measure` among them."""
        raise NotImplementedError

    @property
    def seconds(self) -> float:
        """Training time, including the time before the run was resumed."""
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
                "the same command resumes from the one before it."
            ) from error


def _arguments(settings: TrainingSettings, folder: Path, *, unused: bool, measure: str) -> TrainingArguments:
    """`unused`: some updates leave weights unused, so that distributed training has to look for them."""
    on_cpu = not torch.cuda.is_available()
    products_in(settings.precision)  # raises if the processor cannot
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
        bf16=settings.precision == "bfloat16",
        use_cpu=on_cpu,
        ddp_backend="gloo" if on_cpu and int(os.environ.get("WORLD_SIZE", "1")) > 1 else None,
        ddp_find_unused_parameters=unused,
        dataloader_pin_memory=not on_cpu,
        remove_unused_columns=False,
        disable_tqdm=True,
        report_to="none",
    )
