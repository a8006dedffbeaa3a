"""What the wheel contains. It is built once, by the build backend itself, without network."""

import os
import subprocess
import sys
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest

import cascada

REPOSITORY = Path(__file__).parents[1]
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-c", BUILD, str(folder)]
    built = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return folder / built.stdout.splitlines()[-1]


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


def test_the_command_line_works_from_it_without_reproduce(wheel, tmp_path):
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from cascada.cli.main import main; main()"
    command = [sys.executable, "-c", code, str(tmp_path), "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"COLUMNS": "100"}, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert " rank " in shown.stdout
    assert "reproduce" not in shown.stdout
