"""Encoding and ranking on a local Ray cluster: whether the result is the same as without Ray, and how fast it is.

    python benchmarks/scale.py [--sentences 200000] [--data groups.jsonl] [--json]

Measured are one process without Ray, then Ray with one worker node, with two, and with two of which a worker is killed
halfway. Every node has one core, every engine one thread. The ranker is a small decoupled one with random weights. The
sentences are the candidates of a data set, or random words. The time is that of the call of the library's function: it
includes loading the model in each worker, but not starting the cluster.
"""

from __future__ import annotations

import os

# Workers inherit these. By default Ray runs workers at a lower priority than the process without Ray has.
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
from cascada.scale.rank import RankingJob, rank
from cascada.scale.shard import EncodingJob
from cascada.store import Store, fill
from cascada.store.entries import unpack
from cascada.systems.decoupled.engine import document_encoder
from cascada.systems.load import model_digest

PER_QUESTION = 100
MEMORY = 300_000_000
"""Bytes of a node's object store."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=200_000)
    parser.add_argument(
        "--data", help="a data set, named as in `cascada evaluate`, to take sentences and questions from"
    )
    parser.add_argument("--shards", type=int, default=32)
    parser.add_argument("--pairs", type=int, default=4096, help="pairs per block")
    parser.add_argument("--layers", type=int, default=4, help="layers per side; the interaction has one more")
    parser.add_argument("--hidden", type=int, default=96)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cascada-scale-") as work:
        results = measured(Path(work), options)
    if options.json:
        print(json.dumps(vars(options) | results, indent=2))
    else:
        print_table(results)


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
    """Groups with the wanted number of sentences in total."""
    wanted = options.sentences
    for group in read(options.data) if options.data else made_up():
        yield Group(group.question, group.candidates[:wanted], group.id)
        wanted -= len(group.candidates)
        if wanted <= 0:
            return


def made_up() -> Iterator[Group]:
    """Questions and sentences of made-up words, whose frequencies follow Zipf's law."""
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
    special_tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    texts = islice((text for group in groups for text in (group.question, *group.texts)), 20_000)
    tokenizer.train_from_iterator(
        texts, trainers.WordPieceTrainer(vocab_size=8000, special_tokens=special_tokens, show_progress=False)
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
    tokenizer_config = {"tokenizer_class": "PreTrainedTokenizerFast"}
    (work / "encoder" / "tokenizer_config.json").write_text(json.dumps(tokenizer_config))
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
    encoding = EncodingJob(partial(load_encoder, str(model)))
    corpus, source = Corpus("candidates"), str(out.parent / "groups.jsonl")
    shards, blocks = out / "shards", out / "run.trec.blocks"
    started = time.perf_counter()
    with killed_at(shards, options.shards // 2, kill) as killed:
        encode(encoding, corpus, [source], str(shards), shards=options.shards)
    encoded = time.perf_counter()
    ranking = RankingJob(partial(load_ranker, str(model), str(shards)), model_digest(str(model)))
    pairs = sum(len(group.candidates) for group in groups)
    with killed_at(blocks, pairs // options.pairs // 2, kill) as also_killed:
        rank(ranking, groups, str(out / "run.trec"), pairs=options.pairs)
    took = {"encode s": round(encoded - started, 1), "rank s": round(time.perf_counter() - encoded, 1)}
    return took | {"killed": len(killed) + len(also_killed)}


@contextmanager
def cluster(nodes: int) -> Iterator[None]:
    """Start a head node without workers, and some nodes with one core each."""
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
    """Kill one busy worker as soon as the folder has this many files; yield the list of process ids killed."""
    killed: list[int] = []
    over = threading.Event()

    def watch() -> None:
        while not killed and not over.wait(0.02):
            if folder.is_dir() and len(os.listdir(folder)) >= files:
                for pid in busy_workers()[:1]:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    thread = threading.Thread(target=watch)
    if wanted:
        thread.start()
    try:
        yield killed
    finally:
        over.set()
        if wanted:
            thread.join()


def busy_workers() -> list[int]:
    """Process ids of workers that run a task: Ray names a process after its task."""
    pids = []
    for process in psutil.Process().children(recursive=True):
        try:
            name = " ".join(process.cmdline()[:1])
        except psutil.Error:
            continue
        if name.startswith("ray::") and ("_call" in name or "_fill" in name):
            pids.append(process.pid)
    return pids


def compared(alone: Path, ray: Path) -> dict[str, Any]:
    """How the sharded store and the run of Ray differ from those made without it."""
    expected = entries(Store.open(alone / "store"))
    shards = [entries(Store.open(folder)) for folder in sorted((ray / "shards").iterdir())]
    merged = {key: value for shard in shards for key, value in shard.items()}
    header = Store.open(alone / "store").header
    different = [key for key in expected if merged.get(key) != expected[key]]
    off = max((distance(expected[key], merged[key], header) for key in different if key in merged), default=0.0)
    first, second = (read_run(folder / "run.trec") for folder in (alone, ray))
    pairs = [(first[name][text], second[name][text]) for name in first for text in first[name]]
    return {
        "rows once": expected.keys() == merged.keys() and sum(map(len, shards)) == len(expected),
        "encodings that differ": len(different),
        "by at most": off,
        "same run": (alone / "run.trec").read_bytes() == (ray / "run.trec").read_bytes(),
        "scores differ by at most": max(abs(left - right) for left, right in pairs),
        "orders that differ": sum(order(first[name]) != order(second[name]) for name in first),
    }


def entries(store: Store) -> dict[bytes, bytes]:
    return dict(store.walk(lambda key, value: (key, bytes(value))))


def distance(left: bytes, right: bytes, header: Any) -> float:
    first, second = unpack([memoryview(left), memoryview(right)], header)
    assert first is not None
    assert second is not None
    return float(np.abs(first - second).max())


def order(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda name: -scores[name])


def print_table(results: dict[str, Any]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    names = list(results["rows"]["Ray, one worker"])
    table: Any = Table("", title=f"{results['texts']:,} sentences, {results['pairs']:,} pairs", box=box.SIMPLE)
    for name in names:
        table.add_column(name, justify="right")
    for name, row in results["rows"].items():
        table.add_row(name, *(shown(row.get(column, "")) for column in names))
    Console(width=200).print(table)


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}" if isinstance(value, float) else value


if __name__ == "__main__":
    main()
