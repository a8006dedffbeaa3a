r"""Bytes to lines: what counts as a line, and what happens when the bytes are not text."""

import gzip

import pytest

from cascada.core.errors import DataError
from cascada.data import read
from cascada.data.lines import lines


def texts(path):
    return [line.text for line in lines(path)]


def test_only_a_newline_ends_a_line(tmp_path):
    odd = "a\x85b\u2028c\u2029d\x0be\x0cf\x1cg\rh"
    (tmp_path / "x").write_bytes(f"{odd}\nnext".encode())
    assert texts(tmp_path / "x") == [odd, "next"]


def test_windows_line_ends_and_a_byte_order_mark_are_no_part_of_the_text(tmp_path):
    (tmp_path / "x").write_bytes("\ufeffone\r\ntwo\r\n".encode())
    assert texts(tmp_path / "x") == ["one", "two"]


def test_gzip_is_read_as_if_it_were_plain(tmp_path):
    path = tmp_path / "x.tsv.gz"
    path.write_bytes(gzip.compress("é\nb\n".encode()))
    assert texts(path) == ["é", "b"]


def test_a_byte_that_is_not_utf8_is_named_with_file_and_line(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_bytes(b"who?\tfine\t1\nwho?\tcaf\xe9\t0\n")
    with pytest.raises(DataError, match=r"x\.tsv, line 2: expected UTF-8 text, found byte 0xe9 at column 9"):
        list(read(f"wikiqa:{path}"))


def test_a_truncated_gzip_file_names_the_line_reached(tmp_path):
    whole = gzip.compress(b"".join(b"question %d\tsentence\t1\n" % number for number in range(50_000)))
    path = tmp_path / "x.tsv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"x\.tsv\.gz, line \d\d+: the gzip file is damaged or truncated here"):
        list(read(f"wikiqa:{path}"))


def test_a_file_that_only_claims_to_be_gzip_is_rejected(tmp_path):
    (tmp_path / "x.jsonl.gz").write_bytes(b"{}\n")
    with pytest.raises(DataError, match="line 1: the gzip file is damaged"):
        list(read(tmp_path / "x.jsonl.gz"))


@pytest.mark.parametrize("layout", ["wikiqa", "asnq", "qnli", "csv", "jsonl", "gpd", "selqa", "squad", "trecqa"])
@pytest.mark.parametrize("content", [b"", b"\n\n"], ids=["no bytes", "blank lines"])
def test_an_empty_file_is_an_error_in_every_layout(tmp_path, layout, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(DataError, match="x is empty: expected"):
        list(read(f"{layout}:{tmp_path / 'x'}"))


def test_blank_lines_at_the_end_are_ignored(tmp_path):
    (tmp_path / "x").write_bytes(b"who?\the\t1\n\n\r\n\n")
    assert len(list(read(f"wikiqa:{tmp_path / 'x'}"))) == 1


def test_a_blank_line_in_the_middle_is_an_error(tmp_path):
    (tmp_path / "x").write_bytes(b"who?\the\t1\n\nwho?\tshe\t1\n")
    with pytest.raises(DataError, match=r"x, line 2: expected .*, found an empty line"):
        list(read(f"wikiqa:{tmp_path / 'x'}"))
