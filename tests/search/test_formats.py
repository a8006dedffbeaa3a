"""What is read from each type of file, and what is said about files that cannot be read."""

import json
import os

import pytest
from small_pdf import small_pdf

from cascada.core.errors import DataError
from cascada.search import formats
from cascada.search.formats import read


def text(path):
    (document,) = read(path)
    return document.text


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("name", ["a.txt", "a.md", "A.TXT"])
def test_text_is_kept_character_for_character(file, name):
    content = "\ufeffÉté.\r\n\r\n# Two 😀\n\n\n  three \n"
    assert text(file(name, content)) == content


def test_html_becomes_its_visible_text(file):
    page = """<!doctype html><html><head><title>No</title><style>p { color: red }</style></head><body>
    <script>let no = "</p>";</script><!-- no --><h1>Opening &amp; closing</h1>
    <p>We open at <b>nine</b>,
       close at five.</p><ul><li>Monday</li><li>Tuesday</li></ul>
    <table><tr><th>Day</th><td>Hours</td></tr></table>One<br>two<noscript>no</noscript></body></html>"""
    assert text(file("a.html", page)) == "\n\n".join(
        ["Opening & closing", "We open at nine, close at five.", "Monday", "Tuesday", "Day Hours", "One\ntwo"]
    )


def test_malformed_html_still_yields_its_text(file):
    assert text(file("a.htm", "<p>One<p>two <b>three</i></div>&nope; <![oops <a")).startswith("One\n\ntwo three")


def test_lines_within_pre_are_kept(file):
    assert text(file("a.html", "<pre>one\ntwo\n\nthree</pre><p>a\nb")) == "one\ntwo\n\nthree\n\na b"


def test_pages_of_a_pdf_are_divided_by_form_feeds_and_hyphenated_words_joined(file):
    path = file("a.pdf", small_pdf(["The first docu-", "ment. North-", "America."], ["Second page."]))
    assert text(path) == "The first document. North-\nAmerica.\fSecond page."


def test_a_jsonl_file_has_one_document_per_line(file):
    records = [{"text": "One.", "id": "x", "more": 1}, {"text": "Two."}, {"text": " "}, {"text": "Three.", "id": 7}]
    path = file("a.jsonl", "\n".join(map(json.dumps, records)))
    assert [(document.name, document.text) for document in read(path)] == [
        (f"{path}#x", "One."),
        (f"{path}:2", "Two."),
        (f"{path}#7", "Three."),
    ]


BAD = {
    "not UTF-8": ("a.txt", b"fine\nfa\xe7ade\n", "a.txt, line 2: not UTF-8 text"),
    "UTF-16": ("a.md", "text".encode("utf-16"), "a.md, line 1: not UTF-8 text"),
    "empty": ("a.txt", b"", "a.txt is empty."),
    "blank": ("a.md", b"\xef\xbb\xbf \r\n\n", "a.md is empty."),
    "HTML without text": ("a.html", b"<script>x</script>", "a.html has no text to read."),
    "no PDF": ("a.pdf", b"not at all", "a.pdf cannot be read as PDF: "),
    "an empty PDF": ("a.pdf", b"", "a.pdf cannot be read as PDF: "),
    "a cut PDF": ("a.pdf", small_pdf(["One."])[:200], "a.pdf "),
    "a PDF without text": ("a.pdf", small_pdf([]), "a.pdf has no text to read; if it is a scan"),
    "a JSON line without text": ("a.jsonl", b'{"text": "x"}\n{"body": 1}', 'a.jsonl, line 2: expected "text"'),
    "a JSON line that is none": ("a.jsonl", b"{", "a.jsonl, line 1: expected one JSON object per line"),
    "empty JSONL": ("a.jsonl", b"", "a.jsonl is empty"),
    "another kind": ("a.docx", b"x", "a.docx cannot be read: Cascada reads .txt, .md, .html, .pdf and .jsonl files."),
}


@pytest.mark.parametrize(("name", "content", "sentence"), BAD.values(), ids=BAD)
def test_an_unreadable_file_is_named_in_one_sentence(file, name, content, sentence):
    path = file(name, content)
    with pytest.raises(DataError) as caught:
        list(read(path))
    assert str(caught.value).startswith(str(path.parent / sentence.split(" ")[0].strip(",")))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_too_large_is_rejected_unless_it_is_read_line_by_line(file, monkeypatch):
    monkeypatch.setattr(formats, "MAX_BYTES", 10)
    with pytest.raises(DataError, match=r"a\.txt is too large: 20 bytes, and at most 10 are read"):
        read(file("a.txt", "x" * 20))
    assert len(list(read(file("a.jsonl", '{"text": "as long as you like"}')))) == 1


def test_a_broken_link_and_a_pipe_are_rejected(tmp_path):
    (tmp_path / "a.txt").symlink_to("nowhere")
    os.mkfifo(tmp_path / "b.txt")
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read(tmp_path / "a.txt")
    with pytest.raises(DataError, match="cannot be read: it is not a file"):
        read(tmp_path / "b.txt")
