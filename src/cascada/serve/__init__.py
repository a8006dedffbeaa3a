"""The HTTP server: rankings in the dialects that clients already speak."""

from cascada.serve.app import create_app
from cascada.serve.keys import Keys
from cascada.serve.settings import Settings

__all__ = ["Keys", "Settings", "create_app"]
