"""Workflows, container files and citation are checked by the tools that check them elsewhere. None needs a network."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

REPOSITORY = Path(__file__).parents[1]
WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
BIN = Path(sys.executable).parent


def passes(tool, *arguments):
    done = subprocess.run([BIN / tool, *map(str, arguments)], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-workflows", WORKFLOWS),
        ("vendor.compose-spec", ["compose.yaml"]),
        ("vendor.citation-file-format", ["CITATION.cff"]),
    ],
)
def test_files_have_the_form_that_their_readers_expect(schema, files):
    passes("check-jsonschema", "--builtin-schema", schema, *files)


def test_workflows_have_no_known_weakness():
    """Among them: an action that is not pinned by its commit, and a token with more rights than needed."""
    passes("zizmor", "--offline", "--no-progress", *WORKFLOWS)


def test_the_container_file_passes_its_linter():
    passes("hadolint", "Dockerfile")


def test_every_action_is_pinned_by_commit_and_names_its_version():
    used = re.findall(r"uses: (.+)", "\n".join(path.read_text() for path in WORKFLOWS))
    assert len(used) >= 8
    assert [line for line in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", line)] == []


def test_the_matrix_covers_the_systems_and_the_pythons_that_the_package_names():
    matrix = yaml.safe_load((REPOSITORY / ".github/workflows/tests.yml").read_text())["jobs"]["tests"]["strategy"][
        "matrix"
    ]
    classified = re.findall(
        r'"Programming Language :: Python :: (3\.\d+)"', (REPOSITORY / "pyproject.toml").read_text()
    )
    assert matrix["python"] == classified == ["3.11", "3.12", "3.13", "3.14"]
    assert [system.partition("-")[0] for system in matrix["os"]] == ["ubuntu", "macos", "windows"]


def test_what_workflows_make_is_in_the_makefile():
    made = set(re.findall(r"run: make (\w+)", "\n".join(path.read_text() for path in WORKFLOWS)))
    assert made == {"test", "minimum", "docs", "workflows", "package"}
    assert made <= set(re.findall(r"^(\w+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))


def test_the_image_runs_as_an_ordinary_user_and_the_service_has_a_key_and_a_memory_limit():
    assert re.search(r"^USER 1000$", (REPOSITORY / "Dockerfile").read_text(), re.MULTILINE)
    (service,) = yaml.safe_load((REPOSITORY / "compose.yaml").read_text())["services"].values()
    assert service["environment"]["CASCADA_API_KEY"].startswith("${CASCADA_API_KEY:?")
    assert service["read_only"]
    assert service["mem_limit"]
