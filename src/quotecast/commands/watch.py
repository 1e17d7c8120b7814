"""`quotecast watch`: shows quotes in the terminal as they change."""

import importlib
from argparse import Namespace
from collections.abc import Callable
from typing import Final

from quotecast.errors import SettingsError
from quotecast.local.ports import url_host
from quotecast.settings.model import Settings

#: Modules of the extra.
_EXTRA: Final = {"rich", "quotecast_client"}


def run(settings: Settings, arguments: Namespace) -> int:
    """Shows quotes until Ctrl-C; returns 0, or 1 if it cannot. Raises SettingsError without the extra."""
    host = url_host(settings.host)
    feeds = None
    if arguments.url is None and settings.feed_port:
        feeds = f"ws://{host}:{settings.feed_port}/api/ws"
    text = arguments.url or f"{host}:{settings.port}"
    address = text if "://" in text else f"http://{text}"
    if not address.startswith(("http://", "https://")):
        raise SettingsError(f"--url: {text} is not an address such as http://127.0.0.1:8000")
    address = address.rstrip("/")
    try:
        watch = _load()
        return watch(
            arguments.symbols,
            address,
            feeds,
            interval=arguments.interval,
            once=arguments.once,
            as_json=arguments.json,
        )
    except KeyboardInterrupt:
        return 0


def _load() -> Callable[..., int]:
    """Returns the function that watches; its modules need the extra."""
    try:
        module = importlib.import_module("quotecast.commands.watching.session")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise SettingsError("watch needs its extra: pip install 'quotecast[watch]'") from None
    watch: Callable[..., int] = module.watch
    return watch
