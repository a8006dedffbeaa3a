"""Encoding and ranking on a Ray cluster of this machine: the same result as without it, and how fast.

    python benchmarks/scale.py [--sentences 200000] [--data groups.jsonl] [--json]

One process alone, then Ray with one worker node, with two, and with two of which a worker is killed by its process id
when half of its work is done; every node has one core, every engine one thread. The ranker is a small decoupled one
with random weights. The sentences are a data set's candidates, or made up from a seed. The clock runs from the call of
the library's function to its end, so that loading the model in each worker counts, and starting the cluster does not.
"""

from __future__ import annotations

import os

# For the workers, too. Ray would run them at a lower priority, which one process alone does not have.
os.environ |= {"CASCADA_THREADS": "1", "OMP_NUM_THREADS": "1", "RAY_worker_niceness": "0"}
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import argparse
import json
import random
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from cascada.data import Candidate, Group, identified, read, read_run, write_jsonl, write_run
from cascada.ranking import Ranker
from cascada.ranking.runs import run_of
from cascada.scale.corpus import Corpus
from cascada.scale.encode import encode
from cascada.scale.models import load_encoder, load_ranker
from cascada.scale.rank import Rankings, rank
from cascada.scale.shard import Filling
from cascada.store import Store, fill
from cascada.store.entry import unpacked
from cascada.systems.decoupled.engine import document_encoder
from cascada.systems.load import model_digest

PER_QUESTION = 100
MEMORY = 300_000_000
"""Bytes of a node's object store."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=200_000)
    parser.add_argument("--data", help="sentences and questions of a data set, as `cascada evaluate` names one")
    parser.add_argument("--shards", type=int, default=32)
    parser.add_argument("--pairs", type=int, default=4096, help="pairs of a block")
    parser.add_argument("--layers", type=int, default=4, help="of each side; the interaction has one more")
    parser.add_argument("--hidden", type=int, default=96)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cascada-scale-") as work:
        found = measured(Path(work), options)
    if options.json:
        print(json.dumps(vars(options) | found, indent=2))
    else:
        print_table(found)


def measured(work: Path, options: argparse.Namespace) -> dict[str, Any]:
    groups = list(identified(some_groups(options)))
    write_jsonl(groups, work / "groups.jsonl")
    model = small_model(work, groups, options)
    rows = {"one process": alone(work / "alone", model, groups)}
    for name, nodes, kill in (
        ("Ray, one worker", 1, False),
        ("Ray, two workers", 2, False),
        ("Ray, two workers, one killed", 2, True),
    ):
        with cluster(nodes):
            rows[name] = on_ray(work / name.replace(" ", "-"), model, groups, options, kill)
        rows[name] |= compared(work / "alone", work / name.replace(" ", "-"))
    pairs = sum(len(group.candidates) for group in groups)
    texts = len({text for group in groups for text in group.texts})
    for row in rows.values():
        row |= {"sentences/s": round(texts / row["encode s"]), "pairs/s": round(pairs / row["rank s"])}
    return {"texts": texts, "pairs": pairs, "rows": rows}


def some_groups(options: argparse.Namespace) -> Iterator[Group]:
    """Until there are as many sentences as wanted."""
    wanted = options.sentences
    for group in read(options.data) if options.data else made_up():
        yield Group(group.question, group.candidates[:wanted], group.id)
        wanted -= len(group.candidates)
        if wanted <= 0:
            return


def made_up() -> Iterator[Group]:
    """Questions and sentences of made-up words, most of them rare, as words are."""
    chosen = random.Random(1)
    letters = ["".join(chosen.choices("abcdefghijklmnopqrstuvwxyz", k=chosen.randint(2, 9))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(letters) + 1)]
    while True:
        texts = [" ".join(chosen.choices(letters, weights, k=chosen.randint(5, 30))) for _ in range(PER_QUESTION)]
        question = " ".join(chosen.choices(letters, weights, k=chosen.randint(4, 10)))
        yield Group(question, tuple(Candidate(text) for text in texts))


def small_model(work: Path, groups: list[Group], options: argparse.Namespace) -> Path:
    """A decoupled ranker with random weights, exported in float32."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    from cascada.encoders.encoder import load_encoder as load_layers
    from cascada.systems.decoupled.folder import save
    from cascada.systems.decoupled.network import DecoupledRanker
    from cascada.systems.decoupled.shape import DecoupledShape
    from cascada.systems.export import export

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    texts = islice((text for group in groups for text in (group.question, *group.texts)), 20_000)
    tokenizer.train_from_iterator(
        texts, trainers.WordPieceTrainer(vocab_size=8000, special_tokens=marks, show_progress=False)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=options.hidden,
        intermediate_size=4 * options.hidden,
        num_attention_heads=options.hidden // 32,
        num_hidden_layers=options.layers + 1,
        initializer_range=0.1,
    )
    transformers.AutoModel.from_config(config).save_pretrained(work / "encoder")
    tokenizer.save(str(work / "encoder" / "tokenizer.json"))
    about = {"tokenizer_class": "PreTrainedTokenizerFast"}
    (work / "encoder" / "tokenizer_config.json").write_text(json.dumps(about))
    shape = DecoupledShape(join=options.layers, exits=(options.layers + 1,), max_length=64, question_length=24)
    save(DecoupledRanker(load_layers(work / "encoder"), shape), work / "trained", tokenizer=work / "encoder", card="")
    export(work / "trained", work / "model", "fp32")
    return work / "model"


def alone(out: Path, model: Path, groups: list[Group]) -> dict[str, Any]:
    """The library without Ray, in this process."""
    started = time.perf_counter()
    encoder = document_encoder(model)
    store = Store.create(out / "store", fingerprint=encoder.fingerprint, width=encoder.width)
    fill(store, encoder, (text for group in groups for text in group.texts))
    encoded = time.perf_counter()
    write_run(run_of(Ranker.load(model, store=out / "store"), groups), out / "run.trec")
    return {"encode s": round(encoded - started, 1), "rank s": round(time.perf_counter() - encoded, 1)}


def on_ray(out: Path, model: Path, groups: list[Group], options: argparse.Namespace, kill: bool) -> dict[str, Any]:
    filling = Filling(partial(load_encoder, str(model)), None)
    corpus, source = Corpus("candidates"), str(out.parent / "groups.jsonl")
    shards, blocks = out / "shards", out / "run.trec.blocks"
    started = time.perf_counter()
    with killed_at(shards, options.shards // 2, kill) as killed:
        encode(filling, corpus, [source], str(shards), shards=options.shards)
    encoded = time.perf_counter()
    rankings = Rankings(partial(load_ranker, str(model), str(shards)), model_digest(str(model)))
    pairs = sum(len(group.candidates) for group in groups)
    with killed_at(blocks, pairs // options.pairs // 2, kill) as also_killed:
        rank(rankings, groups, str(out / "run.trec"), pairs=options.pairs)
    took = {"encode s": round(encoded - started, 1), "rank s": round(time.perf_counter() - encoded, 1)}
    return took | {"killed": len(killed) + len(also_killed)}


@contextmanager
def cluster(nodes: int) -> Iterator[None]:
    """A head without work, and so many nodes with one core each."""
    import ray
    from ray.cluster_utils import Cluster

    started = Cluster()
    try:
        started.add_node(num_cpus=0, object_store_memory=MEMORY, include_dashboard=False)
        for _ in range(nodes):
            started.add_node(num_cpus=1, object_store_memory=MEMORY)
        ray.init(address=started.address, log_to_driver=False, logging_level="ERROR")
        yield
    finally:
        ray.shutdown()
        started.shutdown()


@contextmanager
def killed_at(folder: Path, files: int, wanted: bool) -> Iterator[list[int]]:
    """Kill one worker that is at work, by its process id, as soon as so many files or folders are there."""
    killed: list[int] = []
    over = threading.Event()

    def watch() -> None:
        while not killed and not over.wait(0.02):
            if folder.is_dir() and len(os.listdir(folder)) >= files:
                for process in at_work():
                    os.kill(process, signal.SIGKILL)
                    killed.append(process)
                    break

    thread = threading.Thread(target=watch)
    if wanted:
        thread.start()
    try:
        yield killed
    finally:
        over.set()
        if wanted:
            thread.join()


def at_work() -> list[int]:
    """Workers of our cluster with a part in hand: Ray gives a process the name of what it does."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            doing = " ".join(process.cmdline()[:1])
        except psutil.Error:
            continue
        if doing.startswith("ray::") and ("_call" in doing or "_fill" in doing):
            found.append(process.pid)
    return found


def compared(one: Path, other: Path) -> dict[str, Any]:
    """What a store in shards and a run have in common with those made without Ray."""
    alone = entries(Store.open(one / "store"))
    shards = [entries(Store.open(folder)) for folder in sorted((other / "shards").iterdir())]
    together = {key: value for part in shards for key, value in part.items()}
    header = Store.open(one / "store").header
    different = [key for key in alone if together.get(key) != alone[key]]
    off = max((distance(alone[key], together[key], header) for key in different if key in together), default=0.0)
    first, second = (read_run(folder / "run.trec") for folder in (one, other))
    pairs = [(first[name][text], second[name][text]) for name in first for text in first[name]]
    return {
        "rows once": alone.keys() == together.keys() and sum(map(len, shards)) == len(alone),
        "encodings that differ": len(different),
        "by at most": off,
        "same run": (one / "run.trec").read_bytes() == (other / "run.trec").read_bytes(),
        "scores differ by at most": max(abs(left - right) for left, right in pairs),
        "orders that differ": sum(order(first[name]) != order(second[name]) for name in first),
    }


def entries(store: Store) -> dict[bytes, bytes]:
    return dict(store.walk(lambda key, value: (key, bytes(value))))


def distance(one: bytes, other: bytes, header: Any) -> float:
    first, second = unpacked([memoryview(one), memoryview(other)], header)
    assert first is not None
    assert second is not None
    return float(np.abs(first - second).max())


def order(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda name: -scores[name])


def print_table(found: dict[str, Any]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    names = list(found["rows"]["Ray, one worker"])
    table: Any = Table("", title=f"{found['texts']:,} sentences, {found['pairs']:,} pairs", box=box.SIMPLE)
    for name in names:
        table.add_column(name, justify="right")
    for name, row in found["rows"].items():
        table.add_row(name, *(shown(row.get(column, "")) for column in names))
    Console(width=200).print(table)


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}" if isinstance(value, float) else value


if __name__ == "__main__":
    main()
