"""What the tests look at in a run's folder."""

import json

from safetensors.numpy import load_file


def history(folder):
    return json.loads((folder / "history.json").read_text())


def weights(folder):
    """All weights of a trained ranker, as bytes: equal means equal to the bit."""
    return {name: value.tobytes() for name, value in load_file(folder / "model.safetensors").items()}
