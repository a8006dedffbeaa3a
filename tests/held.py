"""A server's process whose rankings wait for as long as a file is there."""


def held_by(path):
    """Python to run before the command: BM25 ranks nothing while the file exists."""
    return f"""
import os, time
from cascada.systems.bm25.stages import BM25Stage
unheld = BM25Stage.score

def score(*given):
    while os.path.exists({str(path)!r}):
        time.sleep(0.01)
    return unheld(*given)

BM25Stage.score = score
"""
