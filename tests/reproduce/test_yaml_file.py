"""A file that cannot be read, or says something else than it should, is a sentence with its path and key."""

import pytest

from cascada.core.errors import CascadaError
from cascada.reproduce.claims import read_claims
from cascada.reproduce.papers import read_papers


@pytest.mark.parametrize(
    ("read", "content", "sentence"),
    [
        (read_papers, "a: b: c", "is not YAML: mapping values are not allowed here"),
        (read_papers, "{world: [], papers: [], more: 1}", "more: Extra inputs are not permitted."),
        (read_papers, "{world: [rm x], papers: []}", "run: a command begins with cascada or python."),
        (read_claims, "a: b: c", "is not YAML: mapping values are not allowed here"),
        (read_claims, "papers: 3", "papers: Input should be a valid list."),
    ],
)
def test_a_mistake_is_named(tmp_path, read, content, sentence):
    path = tmp_path / "file.yaml"
    path.write_text(content)
    with pytest.raises(CascadaError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert sentence in str(caught.value)


def test_a_papers_file_that_is_missing_is_said_to_be_in_a_clone(tmp_path):
    with pytest.raises(CascadaError, match=r"cannot be read: No such file or directory\. Run this in a clone of"):
        read_papers(tmp_path / "papers.yaml")
    with pytest.raises(CascadaError, match=r"cannot be read: No such file or directory\.$"):
        read_claims(tmp_path / "claims.yaml")
