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
    from cascada.scale.rank import RankingJob

app = typer.Typer(help="The same work on a Ray cluster, in resumable parts.", no_args_is_help=True)

Cluster = Annotated[
    str | None,
    typer.Option("--cluster", help="HOST:PORT of a Ray cluster, or auto; by default the cores of this machine."),
]
Cores = Annotated[int, typer.Option("--cores", min=1, help="Cores per worker.")]


@app.command()
def encode(
    model: Annotated[str, typer.Argument(help="A decoupled ranker, which encodes documents without the question.")],
    corpus: Annotated[list[str], typer.Argument(metavar="CORPUS…", help="Files, folders, URLs; or a data set.")],
    out: Annotated[str, typer.Argument(metavar="SHARDS", help="The folder of the shards, by path or URL.")],
    shards: Annotated[int, typer.Option(min=1, max=99_999, help="Number of shards.")],
    units: Annotated[str, typer.Option(help="sentences, paragraphs, or a data set's candidates.")] = "sentences",
    form: Annotated[str | None, typer.Option(help="int8, fp16 or fp32.  [default: int8]")] = None,
    language: Annotated[str, typer.Option(help="The documents' language, a two-letter code.")] = "en",
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
    from cascada.scale.models import absolute_name, load_encoder
    from cascada.scale.shard import EncodingJob
    from cascada.store.number_formats import checked_form

    checked_form(form or "int8")
    job = EncodingJob(partial(load_encoder, absolute_name(model)), form, cores)
    texts = Corpus(units, language, str(root.resolve()) if root else None, split)
    with connected(cluster), progress("encoding", unit="texts") as advance:
        done = encoded(job, texts, corpus, out, shards=shards, advance=advance)
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
    mode: Annotated[
        str, typer.Option(help="raw, no-all-negative or clean; the default of `cascada evaluate` is clean.")
    ] = "raw",
    store: Annotated[str | None, typer.Option(help="Store of document encodings for a decoupled ranker.")] = None,
    drop: Drop = None,
    keep: Keep = None,
    measures: Annotated[str, typer.Option(help="Also measure these, separated by commas: MAP,MRR,P@1,nDCG@10.")] = "",
    pairs: Annotated[int, typer.Option(min=1, help="Pairs per block; a worker ranks one block at a time.")] = 16_384,
    cores: Cores = 1,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Rank every question of a data set, block by block, into one TREC run; measure it with --measures."""
    from cascada.cli.progress import progress
    from cascada.data import identified, read, select
    from cascada.data.statistics import parse_mode
    from cascada.scale.cluster import connected
    from cascada.scale.corpus import local_source
    from cascada.scale.rank import rank as ranked

    job = _ranking_job(model, store, drop, keep, measures, cores)
    with local_source(data) as source:
        groups = select(identified(read(source, root=root, split=split)), parse_mode(mode))
        with connected(cluster), progress("ranking") as advance:
            done = ranked(job, groups, run, pairs=pairs, advance=advance)
    measured = {**done.evaluation.mean, "questions": done.evaluation.questions} if done.evaluation else {}
    if as_json:
        typer.echo(json.dumps({"path": run, "pairs": done.pairs, "added": done.added} | measured))
        return
    typer.echo(f"{run}: {done.pairs:,} pairs ({done.added:,} ranked now)")
    for name, value in measured.items():
        typer.echo(f"{name:<10} {value:,}" if isinstance(value, int) else f"{name:<10} {value:.4f}")


def _ranking_job(
    model: str, store: str | None, drop: str | None, keep: str | None, measures: str, cores: int
) -> RankingJob:
    """Check the options before connecting to a cluster."""
    from cascada.metrics import Measure
    from cascada.ranking.inputs import RankOptions
    from cascada.scale.files import absolute
    from cascada.scale.models import absolute_name, load_ranker
    from cascada.scale.rank import RankingJob
    from cascada.systems.load import model_digest

    if model == "bm25":
        raise CascadaError(
            "bm25 needs the IDF of all the data, and a block has only a part: use `cascada evaluate bm25`."
        )
    if measures:
        require("pytrec_eval", "eval", "measuring")
    names = tuple(Measure.parse(name).name for name in measures.split(",")) if measures else ()
    name, encodings = absolute_name(model), absolute(store) if store else None
    digest = model_digest(name, encodings, plan=True)
    load = partial(load_ranker, name, encodings)
    options = RankOptions.of(drop=ratios(drop), keep=whole_numbers(keep, "--keep"))
    return RankingJob(load, digest, options, names, cores)


@app.command()
def asnq(
    inputs: Annotated[list[str], typer.Argument(help="Natural Questions files, by path or URL; * matches several.")],
    out: Annotated[str, typer.Argument(help="The file to write: .tsv or .tsv.gz.")],
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Convert Natural Questions to ASNQ as `cascada data asnq` does, with one worker per file."""
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
    """Train the runs of a study in parallel, then measure and report as `cascada train` does."""
    for module in ("pydantic", "yaml", "torch", "transformers", "accelerate", "pytrec_eval", "matplotlib"):
        require(module, "train", "training")
    from cascada.cli.train import changes
    from cascada.scale.cluster import connected
    from cascada.scale.study import run_study_on_ray
    from cascada.training.recipes import read_recipe
    from cascada.training.study import StudyRecipe
    from cascada.training.train import FinishedStudy

    settings = read_recipe(recipe, changes(set_ or []))
    if not isinstance(settings, StudyRecipe):
        raise CascadaError(f"{recipe} is not a study: `cascada train` trains it.")
    with connected(cluster):
        outcome = FinishedStudy(settings.output, run_study_on_ray(settings, cpus=cores))
    print(json.dumps(outcome.to_dict()) if as_json else outcome)


@app.command()
def serve(
    model: Annotated[str | None, typer.Argument(help="A ranker's folder, or as in `cascada serve`.")] = None,
    host: Annotated[str, typer.Option(help="The address to listen on, on every machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8080,
    replicas: Annotated[int, typer.Option(min=1, help="Replicas of the server; with --most, at least this many.")] = 1,
    most: Annotated[
        int | None, typer.Option(min=1, help="Scale up to this many replicas by the number of requests.")
    ] = None,
    requests: Annotated[float, typer.Option(help="Requests per replica that scaling aims at.")] = 8,
    index: Annotated[Path | None, typer.Option(help="An index for /v1/ask.")] = None,
    language: Annotated[str, typer.Option(help="The index's language, a two-letter code.")] = "en",
    store: Store = None,
    drop: Drop = None,
    keep: Keep = None,
    deadline_ms: Annotated[float | None, typer.Option(help="The deadline of requests that give none.")] = None,
    keys: Annotated[Path | None, typer.Option(help="A file of API keys, one per line. Also: CASCADA_API_KEY.")] = None,
    queue: Annotated[
        int, typer.Option(min=1, help="Requests handled at once per replica; further ones get status 429.")
    ] = 64,
    cores: Cores = 1,
    cluster: Cluster = None,
) -> None:
    """Serve as `cascada serve` does, from several replicas, until stopped."""
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        require(module, "serve", "serving")
    from cascada.cli.serve import app_of
    from cascada.scale.cluster import connected
    from cascada.scale.models import absolute_name
    from cascada.scale.serve import Replicas, application, running
    from cascada.serve import ServerSettings
    from cascada.serve.keys import read_keys
    from cascada.systems.load import shown_name

    ratios(drop), whole_numbers(keep, "--keep")  # reject mistakes here rather than in every replica
    copies = Replicas(replicas, most or replicas, requests, cores)
    settings = ServerSettings(deadline_ms=deadline_ms, keys=read_keys(keys), queue=queue, model=shown_name(model))
    folders = {"index": index and index.resolve(), "store": store and store.resolve()}
    name = absolute_name(model) if model else None
    build = partial(app_of, name, settings, drop=drop, keep=keep, language=language, **folders)  # type: ignore[arg-type]
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    with connected(cluster), running(application(build, copies, queue=queue), host=host, port=port):
        typer.echo(f"serving {settings.model} on {host}, port {port}", err=True)
        stopped.wait()
