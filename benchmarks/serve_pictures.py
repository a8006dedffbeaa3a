"""Take the screenshots of the web page in docs/pictures from a running server.

cascada serve models/ct &
python benchmarks/serve_pictures.py http://127.0.0.1:8080 docs/pictures [--chromium /usr/bin/chromium]
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

QUESTION = "How many people ascended the Eiffel Tower in 2011?"
EXAMPLES = Path(__file__).parent.parent / "examples"
PRUNED = {"viewport": {"width": 1200, "height": 720}, "color_scheme": "light"}
PICTURES = {
    "page-light": {"viewport": {"width": 1200, "height": 720}, "color_scheme": "light"},
    "page-dark": {"viewport": {"width": 1200, "height": 720}, "color_scheme": "dark"},
    "page-phone": {"viewport": {"width": 390, "height": 1100}, "color_scheme": "light"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("out", type=Path)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=options.chromium, args=arguments)
        for name, context in PICTURES.items():
            page = browser.new_context(**context, reduced_motion="reduce").new_page()
            page.set_default_timeout(120_000)
            page.goto(options.url)
            compressed(screenshot(page)).save(options.out / f"{name}.png", optimize=True)
        page = browser.new_context(**PRUNED).new_page()
        page.set_default_timeout(120_000)
        page.goto(options.url)
        compressed(pruned(page)).save(options.out / "page-prune.png", optimize=True)
        browser.close()


def screenshot(page: Page) -> bytes:
    """Rank forty candidates and drop 30 % at each exit; the first ranking is the warm-up."""
    texts = [
        line for name in ("eiffel", "warhol", "algeria") for line in (EXAMPLES / f"{name}.txt").read_text().splitlines()
    ]
    page.fill("#question", QUESTION)
    page.fill("#candidates", "\n".join(texts[:40]))
    page.evaluate("document.getElementById('candidates').scrollTop = 0")
    page.click("#go")
    page.wait_for_selector(".bar")
    page.focus("#drop")
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    page.wait_for_selector(".cell.dropped")
    page.wait_for_timeout(1500)
    page.evaluate("document.activeElement.blur()")
    return page.screenshot()


def pruned(page: Page) -> bytes:
    """The page's own example of passages."""
    page.check("input[value=prune]")
    page.click("#example")
    page.wait_for_selector("#pruned li")
    page.evaluate("document.activeElement.blur()")
    return page.screenshot()


def compressed(picture: bytes) -> Image.Image:
    return Image.open(io.BytesIO(picture)).convert("RGB").quantize(128)


if __name__ == "__main__":
    main()
