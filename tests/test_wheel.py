"""What the wheel and the sdist contain. They are built once, by the build backend itself, without network."""

import json
import os
import subprocess
import sys
import tarfile
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest

import cascada
from cascada.bench.installed import installed

REPOSITORY = Path(__file__).parents[1]
BUILD = "import sys; from hatchling import build; print(getattr(build, sys.argv[1])(sys.argv[2]))"
RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from cascada.cli.main import main; main()"
MOST_BYTES = 240_000_000
"""What the core may take on disk, with all of its requirements."""


def built(kind, folder):
    command = [sys.executable, "-c", BUILD, f"build_{kind}", str(folder)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return folder / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return built("sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def names(wheel):
    with ZipFile(wheel) as archive:
        return archive.namelist()


def test_it_has_the_page_the_types_and_the_bundled_model(names):
    bundled = {path.name for path in (REPOSITORY / "src/cascada/bundled/cascada-mini").iterdir() if path.is_file()}
    expected = {f"cascada/serve/page/{file}" for file in ("index.html", "page.css", "page.js", "passages.js")}
    expected |= {"cascada/py.typed"} | {f"cascada/bundled/cascada-mini/{file}" for file in bundled}
    assert expected <= set(names)


def test_its_metadata_names_both_licences_and_the_version_of_the_package(wheel):
    with ZipFile(wheel) as archive:
        (folder,) = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = message_from_bytes(archive.read(f"{folder}/METADATA"))
        texts = [archive.read(f"{folder}/licenses/{name}").decode() for name in metadata.get_all("License-File")]
    assert metadata["Version"] == cascada.__version__
    assert metadata["License-Expression"] == "Apache-2.0 AND CC-BY-SA-4.0"
    assert ["Apache License" in texts[0], "CC-BY-SA-4.0" in texts[1]] == [True, True]


def test_it_has_nothing_that_only_works_in_a_clone(names):
    assert [name for name in names if "reproduce" in name] == []
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"cascada"}


def from_wheel(unpacked, *arguments):
    """Run a command with the package as the wheel has it, outside of the repository."""
    command = [sys.executable, "-c", RUN, str(unpacked), *map(str, arguments)]
    without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, env=without | {"COLUMNS": "100"}, cwd=unpacked)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_line_works_from_it_without_reproduce(unpacked):
    shown = from_wheel(unpacked, "--help")
    assert " rank " in shown
    assert "reproduce" not in shown


def test_the_bundled_model_ranks_and_answers_from_it(unpacked):
    examples = REPOSITORY / "examples"
    question = "How many people ascended the Eiffel Tower in 2011?"
    ranking = json.loads(from_wheel(unpacked, "rank", question, examples / "eiffel.txt", "--json"))
    assert "6.98 million people" in ranking["items"][0]["text"]
    asked = json.loads(
        from_wheel(unpacked, "ask", "Why was Polonia relegated in 2013?", examples / "documents", "--json")
    )
    assert "disastrous financial situation" in asked["answers"][0]["text"]


def test_the_sdist_has_what_builds_the_package_and_no_more(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    top = {name.partition("/")[0] for name in names}
    texts = {"LICENSE", "LICENSE-WEIGHTS", "README.md", "CHANGELOG.md", "SECURITY.md", "CITATION.cff"}
    assert top == texts | {"src", "pyproject.toml", "constraints.txt", "PKG-INFO", ".gitignore"}
    assert [name for name in names if "reproduce" in name] == []


def test_the_package_index_would_take_both(wheel, sdist):
    command = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", str(wheel), str(sdist)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_core_with_its_requirements_is_small():
    assert sum(installed("cascada").values()) <= MOST_BYTES
