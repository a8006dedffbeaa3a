"""The site builds, from files of this repository alone, and does not build with a link that leads nowhere."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

ROOT = Path(__file__).parents[2]
one_process = pytest.mark.xdist_group("site")
"""Builds the whole site once, not once in every process that tests."""
FETCHED = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]*\b(?:src|srcset|href)=[\"']?(?:https?:)?//[^\s>]*")


def build(config, site):
    """Nothing, or mkdocs's `Abort`: a warning is enough, as the settings are strict."""
    mkdocs_build(load_config(str(config), site_dir=str(site)))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The whole site; built once for this file's tests."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=1800)
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


@one_process
def test_the_readme_is_the_first_page_and_leads_to_the_others(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    assert "<h1" in text
    assert 'href="ranking/"' in text


@one_process
def test_a_link_out_of_docs_leads_to_that_file(site):
    page = (site / "papers" / "cascade-transformer" / "index.html").read_text(encoding="utf-8")
    (link,) = set(re.findall(r'href="([^"]*/training/exit_learner\.py/)"', page))
    shown = (site / "papers" / "cascade-transformer" / link / "index.html").read_text(encoding="utf-8")
    assert "round" in re.sub(r"<[^>]*>", "", shown)


@one_process
def test_the_reference_has_signatures_and_docstrings(site):
    page = (site / "reference" / "ranking" / "index.html").read_text(encoding="utf-8")
    assert 'id="cascada.Ranker.rank"' in page
    assert "the first stage always finishes" in page
    assert "&gt;&gt;&gt;" in page, "an example is a block of code"


@one_process
def test_the_reference_has_everything_that_its_pages_name(site):
    for source in (ROOT / "docs" / "reference").glob("*.md"):
        page = (site / "reference" / source.stem / "index.html").read_text(encoding="utf-8")
        blocks = re.findall(r"^::: (\S+)\n((?:    .*\n)*)", source.read_text(encoding="utf-8"), re.MULTILINE)
        assert blocks
        for path, options in blocks:
            members = re.findall(r"members: \[(.*)\]", options)
            named = (
                [f"{path}.{name}" for name in members[0].split(", ")]
                if members
                else [path] * ("show_root_heading: false" not in options)
            )
            assert [name for name in named if f'id="{name}"' not in page] == []


@one_process
def test_nothing_is_fetched_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    assert {page.name: found for page in pages if (found := FETCHED.findall(page.read_text(encoding="utf-8")))} == {}


@pytest.fixture
def small(tmp_path):
    """A repository of a few pages with this one's settings, that builds."""
    shutil.copytree(ROOT / "docs-tooling", tmp_path / "docs-tooling")
    (tmp_path / "docs").mkdir()
    (tmp_path / "recipes").mkdir()
    nav = "nav: [index.md, page.md, contributing.md, changelog.md, security.md]"
    (tmp_path / "mkdocs.yml").write_text(f"INHERIT: {ROOT / 'mkdocs.yml'}\nplugins: []\n{nav}\n", encoding="utf-8")
    (tmp_path / "recipes" / "one.yaml").write_text("seed: 1\n", encoding="utf-8")
    (tmp_path / "docs" / "page.md").write_text("# Page\n\n## Part\n\n[one](../recipes)\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("# Read me\n\n[page](docs/page.md#part)\n", encoding="utf-8")
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"):
        (tmp_path / name).write_text(f"# {name}\n", encoding="utf-8")
    return tmp_path


def test_a_small_repository_builds_with_pages_of_its_files(small):
    build(small / "mkdocs.yml", small / "site")
    assert "one.yaml/" in (small / "site" / "files" / "recipes" / "index.html").read_text(encoding="utf-8")
    assert "seed" in (small / "site" / "files" / "recipes" / "one.yaml" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "link", "told"),
    [
        ("docs/page.md", "../recipes/two.yaml", "page.md links to recipes/two.yaml, which is not in the repository"),
        ("docs/page.md", "../../elsewhere", "page.md links to ../elsewhere, which is not in the repository"),
        ("docs/page.md", "other.md", "page.md links to docs/other.md, which is not in the repository"),
        ("docs/page.md", "#nowhere", "no such anchor"),
        ("README.md", "docs/other.md", "index.md links to docs/other.md, which is not in the repository"),
        ("README.md", "docs/page.md#nowhere", "does not contain an anchor '#nowhere'"),
    ],
)
def test_a_link_that_leads_nowhere_ends_the_build(small, file, link, told, caplog):
    with open(small / file, "a", encoding="utf-8") as page:
        page.write(f"\n[broken]({link})\n")
    with pytest.raises(Abort):
        build(small / "mkdocs.yml", small / "site")
    assert told in caplog.text


def test_a_page_that_nothing_leads_to_ends_the_build(small, caplog):
    (small / "docs" / "lost.md").write_text("# Lost\n", encoding="utf-8")
    with pytest.raises(Abort):
        build(small / "mkdocs.yml", small / "site")
    assert "lost.md" in caplog.text


def test_what_looks_like_a_link_in_code_is_none(small):
    (small / "docs" / "page.md").write_text(
        "# Page\n\n## Part\n\n`[a](b)`\n\n```\nx[0](nowhere)\n```\n", encoding="utf-8"
    )
    build(small / "mkdocs.yml", small / "site")
