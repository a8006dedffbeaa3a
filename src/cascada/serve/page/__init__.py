"""The web page at `/`: four files, no build step, nothing loaded from elsewhere."""

from collections.abc import Awaitable, Callable
from importlib.resources import files

from fastapi import FastAPI
from fastapi.responses import Response

FILES = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/passages.js": ("passages.js", "text/javascript"),
}

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def add_page(app: FastAPI) -> None:
    """Add a route for each file."""
    for path, (name, media_type) in FILES.items():
        content = (files(__package__) / name).read_bytes()
        app.add_api_route(path, _sender(content, media_type), include_in_schema=False)


def _sender(content: bytes, media_type: str) -> Callable[[], Awaitable[Response]]:
    async def send() -> Response:
        return Response(content, media_type=f"{media_type}; charset=utf-8", headers=HEADERS)

    return send
