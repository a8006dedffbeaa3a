"""The HTTP server: rankings in the API dialects that existing clients already speak."""

from cascada.serve.app import create_app
from cascada.serve.keys import ApiKeys
from cascada.serve.settings import ServerSettings

__all__ = ["ApiKeys", "ServerSettings", "create_app"]
