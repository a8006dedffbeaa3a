"""Train, evaluate, tune, accelerate, export from Python: one function for each, which the command of that name calls.

Mistakes raise `CascadaError`, a `ValueError` whose message is one sentence. Whatever can be checked early is checked
before models are loaded. Functions that take long call `on_progress` with a `Progress`; `on_progress=print` shows them.
"""

from cascada.api.acceleration import accelerate
from cascada.api.arguments import Progress
from cascada.api.evaluation import Evaluated, evaluate
from cascada.api.exporting import Exported, export
from cascada.api.training import train
from cascada.api.tuning import tune
from cascada.search import ask

__all__ = ["Evaluated", "Exported", "Progress", "accelerate", "ask", "evaluate", "export", "train", "tune"]
