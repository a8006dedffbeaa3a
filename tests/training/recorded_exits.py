"""`recorded_exits.py FOLDER train …`: `cascada train`, with every process recording the exits of each update."""

import json
import os
import sys

from cascada.cli.main import main
from cascada.training.exit_learner import ExitLearner

folder = sys.argv.pop(1)
original_loss = ExitLearner.loss


def loss(self, model, inputs, update):
    """The original loss; the recorded exits are the arguments of the model's forward pass."""
    exits = []
    hook = model.register_forward_pre_hook(lambda _, __, arguments: exits.append(arguments["exits"]), with_kwargs=True)
    result = original_loss(self, model, inputs, update)
    hook.remove()
    with open(os.path.join(folder, f"exits-{os.environ.get('RANK', '0')}.jsonl"), "a") as file:
        file.write(json.dumps([update, *exits]) + "\n")
    return result


ExitLearner.loss = loss
main()
