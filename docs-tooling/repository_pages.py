"""Files of the repository as pages of the site, so that links which work in a code host's file view work here, too.

Pages in docs/ link to what they speak of, `../recipes/cascade/wikiqa.yaml`, and README.md, CONTRIBUTING.md and
CHANGELOG.md are pages, too. Every file or folder that a link leads to becomes a page of its own. A link to what the
repository does not have ends the build.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
DOCS, OTHERS = "docs/", "files/"
"""Where the pages lie in the repository, and where pages of other files lie in the site."""

LINK = re.compile(
    r"(?P<code>^ *(?P<fence>```|~~~).*?^ *(?P=fence)|`[^`\n]*`)"
    r"|(?P<before>\]\(|\b(?:src|srcset|href)=\")(?P<target>(?![a-z]+:|[#/])[^)\s\"#]+)",
    re.MULTILINE | re.DOTALL,
)
LANGUAGES = {".py": "python", ".yaml": "yaml", ".sh": "bash", ".json": "json", ".jsonl": "json"}
HIDDEN = ("__pycache__", ".")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add README.md and its kind, what all pages link to outside of docs/, what those link to, and so on."""
    root = Path(config.config_file_path).parent
    found = [(place, "mkdocs.yml") for place in PAGES]
    for page in files.documentation_pages():
        found += targets(page.content_string, page.src_uri)
    while found:
        place, linked_from = found.pop()
        if not (root / place).exists() or place.startswith(".."):
            raise PluginError(f"{linked_from} links to {place}, which is not in the repository.")
        uri = uri_of(root, place)
        if place.startswith(DOCS) or files.get_file_from_path(uri):
            continue
        content = content_of(root / place, place)
        files.append(File.generated(config, uri, content=content))
        found += targets(content, uri)
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links lead from page to page, whatever the files' places in the repository are."""
    root = Path(config.config_file_path).parent
    uri = page.file.src_uri

    def link(match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        target = uri_of(root, place_of(match["target"], uri))
        return match["before"] + posixpath.relpath(target, posixpath.dirname(uri) or ".")

    return LINK.sub(link, markdown)


def targets(markdown: str, uri: str) -> list[tuple[str, str]]:
    """Where the page's links lead in the repository, each with the page's name."""
    return [(place_of(match["target"], uri), uri) for match in LINK.finditer(markdown) if match["target"]]


def place_of(target: str, uri: str) -> str:
    """A link's target as a path in the repository."""
    folder = "" if uri in PAGES.values() else posixpath.dirname(uri.removeprefix(OTHERS) if other(uri) else DOCS + uri)
    return posixpath.normpath(posixpath.join(folder, target))


def other(uri: str) -> bool:
    return uri.startswith(OTHERS)


def uri_of(root: Path, place: str) -> str:
    """The page that shows this file or folder."""
    if place in PAGES:
        return PAGES[place]
    if place.startswith(DOCS):
        return place.removeprefix(DOCS)
    if (root / place).is_dir():
        return f"{OTHERS}{place}/index.md"
    return OTHERS + (place if place.endswith(".md") else f"{place}.md")


def content_of(path: Path, place: str) -> str:
    """Markdown as it is, a folder as a list, anything else as it is written. Search finds the first of these only."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    head = f"---\ntitle: {place}\nsearch: {{exclude: true}}\n---\n\n"
    if path.is_dir():
        names = sorted(one.name for one in path.iterdir() if not one.name.startswith(HIDDEN))
        return head + "\n".join(f"- [`{name}`]({name})" for name in names) + "\n"
    return f"{head}````{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text(encoding='utf-8').rstrip()}\n````\n"
