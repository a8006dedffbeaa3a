"""The server that `benchmarks/serve.py` compares with: a plain FastAPI wrapper around a CrossEncoder.

    python benchmarks/serve_peer.py TRAINED_FOLDER [--one-at-a-time]

It loads the encoder weights of the ranker in the folder (see `cascada.bench.peer_folder`) and prints its port. FastAPI
runs requests in threads; with `--one-at-a-time`, a lock lets only one of them compute.
"""

from __future__ import annotations

import argparse
import socket
import tempfile
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sentence_transformers import CrossEncoder

from cascada.bench.peer_folder import write_peer


class RerankRequest(BaseModel):
    query: str
    documents: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--one-at-a-time", action="store_true")
    options = parser.parse_args()
    model = cross_encoder(options.folder)
    lock: Any = threading.Lock() if options.one_at_a_time else nullcontext()
    app = FastAPI()

    @app.post("/rerank")
    def rerank(request: RerankRequest) -> list[dict[str, Any]]:
        pairs = [(request.query, text) for text in request.documents]
        with lock:
            scores = model.predict(pairs, show_progress_bar=False)
        return [{"index": int(index), "score": float(scores[index])} for index in (-scores).argsort()]

    model.predict([("warm", "up")] * 50, show_progress_bar=False)
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listening])


def cross_encoder(folder: Path) -> CrossEncoder:
    with tempfile.TemporaryDirectory() as work:
        write_peer(folder, Path(work))
        return CrossEncoder(work, device="cpu")


if __name__ == "__main__":
    main()
