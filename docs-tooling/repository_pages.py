"""Add files of the repository to the site, so that links which work in a code host's file view work here, too.

Pages in docs/ link to files such as `../recipes/cascade/wikiqa.yaml`; README.md, CONTRIBUTING.md and CHANGELOG.md are
pages, too. Every file or folder that a link leads to becomes a page of its own. A link to a file that the repository
does not have ends the build.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
DOCS, OTHERS = "docs/", "files/"
"""The folder of the pages in the repository, and the folder of the pages of other files in the site."""

LINK = re.compile(
    r"(?P<code>^ *(?P<fence>```|~~~).*?^ *(?P=fence)|`[^`\n]*`)"
    r"|(?P<before>\]\(|\b(?:src|srcset|href)=\")(?P<target>(?![a-z]+:|[#/])[^)\s\"#]+)",
    re.MULTILINE | re.DOTALL,
)
LANGUAGES = {".py": "python", ".yaml": "yaml", ".sh": "bash", ".json": "json", ".jsonl": "json"}
HIDDEN = ("__pycache__", ".")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add README.md and the like, then every file outside docs/ that a page links to, directly or indirectly."""
    root = Path(config.config_file_path).parent
    links = [(path, "mkdocs.yml") for path in PAGES]
    for page in files.documentation_pages():
        links += targets(page.content_string, page.src_uri)
    while links:
        path, linked_from = links.pop()
        if not (root / path).exists() or path.startswith(".."):
            raise PluginError(f"{linked_from} links to {path}, which is not in the repository.")
        uri = uri_of(root, path)
        if path.startswith(DOCS) or files.get_file_from_path(uri):
            continue
        content = content_of(root / path, path)
        files.append(File.generated(config, uri, content=content))
        links += targets(content, uri)
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links between files of the repository as links between pages of the site."""
    root = Path(config.config_file_path).parent
    uri = page.file.src_uri

    def link(match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        target = uri_of(root, path_of(match["target"], uri))
        return match["before"] + posixpath.relpath(target, posixpath.dirname(uri) or ".")

    return LINK.sub(link, markdown)


def targets(markdown: str, uri: str) -> list[tuple[str, str]]:
    """The paths in the repository that the page links to, each with the page's name."""
    return [(path_of(match["target"], uri), uri) for match in LINK.finditer(markdown) if match["target"]]


def path_of(target: str, uri: str) -> str:
    """A link's target as a path in the repository."""
    folder = (
        ""
        if uri in PAGES.values()
        else posixpath.dirname(uri.removeprefix(OTHERS) if uri.startswith(OTHERS) else DOCS + uri)
    )
    return posixpath.normpath(posixpath.join(folder, target))


def uri_of(root: Path, path: str) -> str:
    """The page that shows this file or folder."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    if (root / path).is_dir():
        return f"{OTHERS}{path}/index.md"
    return OTHERS + (path if path.endswith(".md") else f"{path}.md")


def content_of(path: Path, title: str) -> str:
    """Markdown as it is, a folder as a list, anything else as a code block. Only Markdown files can be searched."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    head = f"---\ntitle: {title}\nsearch: {{exclude: true}}\n---\n\n"
    if path.is_dir():
        names = sorted(entry.name for entry in path.iterdir() if not entry.name.startswith(HIDDEN))
        return head + "\n".join(f"- [`{name}`]({name})" for name in names) + "\n"
    return f"{head}````{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text(encoding='utf-8').rstrip()}\n````\n"
