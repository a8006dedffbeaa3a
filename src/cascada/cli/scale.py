"""`cascada scale`: encode, rank, evaluate, convert, train and serve on a Ray cluster."""

from __future__ import annotations

import json
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascada.cli.options import AsJson, Drop, Keep, Root, Source, Split, Store, ratios, whole_numbers
from cascada.core.errors import CascadaError, require

if TYPE_CHECKING:
    from cascada.scale.rank import Rankings

app = typer.Typer(help="The same work on a Ray cluster, in parts that are done once.", no_args_is_help=True)

Cluster = Annotated[
    str | None,
    typer.Option("--cluster", help="HOST:PORT of a Ray cluster, or auto; without it, this machine's cores."),
]
Cores = Annotated[int, typer.Option("--cores", min=1, help="Cores for each worker.")]


@app.command()
def encode(
    model: Annotated[str, typer.Argument(help="A ranker that reads documents without the question.")],
    corpus: Annotated[list[str], typer.Argument(metavar="CORPUS…", help="Files, folders, URLs; or a data set.")],
    out: Annotated[str, typer.Argument(metavar="SHARDS", help="The folder of the shards, by path or URL.")],
    shards: Annotated[int, typer.Option(min=1, max=99_999, help="How many parts the store has.")],
    units: Annotated[str, typer.Option(help="sentences, paragraphs, or a data set's candidates.")] = "sentences",
    form: Annotated[str | None, typer.Option(help="int8, fp16 or fp32.  [default: int8]")] = None,
    language: Annotated[str, typer.Option(help="The documents' language, two letters.")] = "en",
    root: Root = None,
    split: Split = None,
    cores: Cores = 1,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Encode documents into the shards of a store, each shard by one worker."""
    from cascada.cli.encode import report
    from cascada.cli.progress import progress
    from cascada.scale.cluster import connected
    from cascada.scale.corpus import Corpus
    from cascada.scale.encode import encode as encoded
    from cascada.scale.models import anywhere, load_encoder
    from cascada.scale.shard import Filling
    from cascada.store.format import checked_form

    checked_form(form or "int8")
    filling = Filling(partial(load_encoder, anywhere(model)), form, cores)
    texts = Corpus(units, language, str(root.resolve()) if root else None, split)
    with connected(cluster), progress("encoding", unit="texts") as advance:
        done = encoded(filling, texts, corpus, out, shards=shards, advance=advance)
    for problem in done.problems:
        print(f"cascada: left out: {problem}", file=sys.stderr)
    report(out, done.documents, done.added, done.documents - done.added, as_json)


@app.command()
def rank(
    model: Annotated[str, typer.Argument(help="A ranker's folder, by path or URL, or two rankers as A+B.")],
    data: Source,
    run: Annotated[str, typer.Argument(metavar="RUN", help="The TREC run to write, by path or URL.")],
    root: Root = None,
    split: Split = None,
    mode: Annotated[str, typer.Option(help="raw, no-all-negative or clean, as in `cascada evaluate`.")] = "raw",
    store: Annotated[str | None, typer.Option(help="Documents' encodings for a decoupled ranker.")] = None,
    drop: Drop = None,
    keep: Keep = None,
    measures: Annotated[str, typer.Option(help="Measure, too, with commas: MAP,MRR,P@1,nDCG@10.")] = "",
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of a block, which a worker does at a time.")] = 16_384,
    cores: Cores = 1,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Rank every question of a data set, block by block, into one TREC run; measure it with --measures."""
    from cascada.cli.progress import progress
    from cascada.data import identified, read, select
    from cascada.data.statistics import checked
    from cascada.scale.cluster import connected
    from cascada.scale.corpus import data_here
    from cascada.scale.rank import rank as ranked

    rankings = _rankings(model, store, drop, keep, measures, cores)
    with data_here(data) as source:
        groups = select(identified(read(source, root=root, split=split)), checked(mode))
        with connected(cluster), progress("ranking") as advance:
            done = ranked(rankings, groups, run, pairs=pairs, advance=advance)
    found = {**done.evaluation.mean, "questions": done.evaluation.questions} if done.evaluation else {}
    if as_json:
        typer.echo(json.dumps({"path": run, "pairs": done.pairs, "added": done.added} | found))
        return
    typer.echo(f"{run}: {done.pairs:,} pairs ({done.added:,} ranked now)")
    for name, value in found.items():
        typer.echo(f"{name:<10} {value:,}" if isinstance(value, int) else f"{name:<10} {value:.4f}")


def _rankings(model: str, store: str | None, drop: str | None, keep: str | None, measures: str, cores: int) -> Rankings:
    """What may be wrong with the options is found before a cluster is asked for."""
    from cascada.metrics import Measure
    from cascada.scale.files import absolute
    from cascada.scale.models import anywhere, load_ranker
    from cascada.scale.rank import Rankings
    from cascada.systems.load import model_digest

    if model == "bm25":
        raise CascadaError("bm25 counts words over all the data, which no block has: use `cascada evaluate bm25`.")
    if measures:
        require("pytrec_eval", "eval", "measuring")
    names = tuple(Measure.parse(name).name for name in measures.split(",")) if measures else ()
    name, encodings = anywhere(model), absolute(store) if store else None
    mark = model_digest(name, encodings, plan=True)
    load = partial(load_ranker, name, encodings)
    return Rankings(load, mark, ratios(drop), whole_numbers(keep, "--keep"), names, cores)


@app.command()
def asnq(
    inputs: Annotated[list[str], typer.Argument(help="Natural Questions files, by path or URL (* for several).")],
    out: Annotated[str, typer.Argument(help="The file to write: .tsv or .tsv.gz.")],
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Convert Natural Questions to ASNQ as `cascada data asnq` does, a worker for each file."""
    from cascada.cli.asnq import check_input, check_output, report
    from cascada.cli.progress import progress
    from cascada.scale.asnq import convert
    from cascada.scale.cluster import connected
    from cascada.scale.files import absolute, files_of, is_local

    check_output(out)
    for path in inputs:
        if is_local(path):
            check_input(Path(absolute(path)))
    files = files_of(inputs, lambda path: [path], (".jsonl", ".jsonl.gz"))
    with connected(cluster), progress("converting", total=len(files), unit="files") as advance:
        done = convert(files, out, advance=advance)
    report(done, out.rpartition("/")[2], out, as_json)


@app.command()
def study(
    recipe: Annotated[Path, typer.Argument(help="A YAML recipe of kind study.")],
    set_: Annotated[list[str] | None, typer.Option("--set", help="Change a setting, as in `cascada train`.")] = None,
    cores: Cores = 1,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Train a study's members side by side, then measure and report as `cascada train` does."""
    for module in ("pydantic", "yaml", "torch", "transformers", "accelerate", "pytrec_eval", "matplotlib"):
        require(module, "train", "training")
    from cascada.cli.train import changes
    from cascada.scale.cluster import connected
    from cascada.scale.study import run_study_on_ray
    from cascada.training.recipes import read_recipe
    from cascada.training.start import Studied
    from cascada.training.study import StudyRecipe

    settings = read_recipe(recipe, changes(set_ or []))
    if not isinstance(settings, StudyRecipe):
        raise CascadaError(f"{recipe} is not a study: `cascada train` trains it.")
    with connected(cluster):
        outcome = Studied(settings.output, run_study_on_ray(settings, cpus=cores))
    print(json.dumps(outcome.as_dict()) if as_json else outcome)


@app.command()
def serve(
    model: Annotated[str | None, typer.Argument(help="A ranker's folder, or as in `cascada serve`.")] = None,
    host: Annotated[str, typer.Option(help="The address to listen on, on every machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8080,
    replicas: Annotated[int, typer.Option(min=1, help="Copies of the server; at least so many with --most.")] = 1,
    most: Annotated[int | None, typer.Option(min=1, help="Scale up to so many copies by the requests inside.")] = None,
    requests: Annotated[float, typer.Option(help="Requests inside a copy that scaling aims at.")] = 8,
    index: Annotated[Path | None, typer.Option(help="An index; /v1/ask answers from it.")] = None,
    language: Annotated[str, typer.Option(help="The index's language, two letters.")] = "en",
    store: Store = None,
    drop: Drop = None,
    keep: Keep = None,
    deadline_ms: Annotated[float | None, typer.Option(help="For requests that name no deadline.")] = None,
    keys: Annotated[Path | None, typer.Option(help="A file of API keys, one a line. Also: CASCADA_API_KEY.")] = None,
    queue: Annotated[int, typer.Option(min=1, help="Requests inside a copy; more are answered 429.")] = 64,
    cores: Cores = 1,
    cluster: Cluster = None,
) -> None:
    """Serve as `cascada serve` does, from several copies, until told to end."""
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        require(module, "serve", "serving")
    from cascada.cli.serve import app_of, shown_name
    from cascada.scale.cluster import connected
    from cascada.scale.models import anywhere
    from cascada.scale.serve import Replicas, application, running
    from cascada.serve import Settings
    from cascada.serve.keys import read_keys

    ratios(drop), whole_numbers(keep, "--keep")  # told here rather than by every copy
    copies = Replicas(replicas, most or replicas, requests, cores)
    settings = Settings(deadline_ms=deadline_ms, keys=read_keys(keys), queue=queue, model=shown_name(model))
    folders = {"index": index and index.resolve(), "store": store and store.resolve()}
    name = anywhere(model) if model else None
    build = partial(app_of, name, settings, drop=drop, keep=keep, language=language, **folders)
    ended = threading.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda *_: ended.set())
    with connected(cluster), running(application(build, copies, queue=queue), host=host, port=port):
        typer.echo(f"serving {settings.model} on {host}, port {port}", err=True)
        ended.wait()
