"""The files of the web page at `/`."""

import re


def test_the_page_loads_nothing_from_elsewhere(bm25):
    page = bm25.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in page.headers["content-security-policy"]
    links = set(re.findall(r'(?:src|href)="([^"]+)"', page.text)) - {"data:,"}
    assert links == {"/page.css", "/page.js", "/passages.js"}
    for path in links:
        file = bm25.get(path)
        assert file.status_code == 200
        assert "http" not in file.text


def test_every_element_that_the_script_looks_up_is_on_the_page(bm25):
    ids = set(re.findall(r'id="(\w+)"', bm25.get("/").text))
    for script in ("/page.js", "/passages.js"):
        assert set(re.findall(r'\$\("(\w+)"\)', bm25.get(script).text)) <= ids


def test_ready_says_what_the_page_needs(bm25):
    status = bm25.get("/ready").json()
    assert (status["exits"], status["asks"]) == ([0], False)
