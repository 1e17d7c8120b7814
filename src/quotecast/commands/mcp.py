"""`quotecast mcp`: gives a program's language model the tools of a running service."""

import argparse
import asyncio
import importlib
from pathlib import Path

from quotecast.errors import QuotecastError, SettingsError
from quotecast.observe.logs import configure_logs
from quotecast.settings import mcp
from quotecast.settings.model import Settings


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Serves until its input ends; returns 0. Raises SettingsError without the SDK."""
    if not mcp.has_sdk():
        raise SettingsError(f"`quotecast mcp` needs an extra: {mcp.REMEDY}")
    url = arguments.url or f"http://127.0.0.1:{settings.port}"
    if not url.startswith(("http://", "https://")):
        raise SettingsError("--url: must be an address such as http://127.0.0.1:8000")
    configure_logs(level=settings.log_level, as_json=False)
    token = _token(arguments.token_file) if arguments.token_file else ""
    stdio = importlib.import_module("quotecast.mcp.stdio")
    asyncio.run(stdio.serve(url, token))
    return 0


def _token(path: str) -> str:
    try:
        token = Path(path).read_text("utf-8").strip()
    except (OSError, ValueError):
        raise QuotecastError(f"--token-file: {path} cannot be read") from None
    if not token.isascii() or not token.isprintable() or not token:
        raise QuotecastError(f"--token-file: {path} holds no token")
    return token
