"""Hosts and origins from which `/mcp` takes requests, against DNS rebinding."""

from collections.abc import Iterator
from typing import Final

from quotecast.settings.model import Settings

_LOCAL: Final = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104  # nosec B104 - compared only


def allowed_hosts(settings: Settings) -> list[str]:
    """Returns the values of `Host` that are answered: the named hosts, in development also local ones."""
    names = [*settings.mcp_hosts]
    if settings.mode == "development":
        names += _LOCAL
        if settings.host not in _EVERYWHERE:
            names.append(f"[{settings.host}]" if ":" in settings.host else settings.host)
    return [*_with_ports(names)]


def allowed_origins(settings: Settings) -> list[str]:
    """Returns the web origins that are answered: those of accounts, in development also local ones.

    `*` is none of them: an answer may hold account data.
    """
    origins = [origin for origin in settings.account_origins if origin != "*"]
    if settings.mode == "development":
        origins += _with_ports([f"{scheme}://{host}" for host in _LOCAL for scheme in ("http", "https")])
    return origins


def _with_ports(names: list[str]) -> Iterator[str]:
    """Yields each name as it is, and with any port in the SDK's spelling."""
    for name in names:
        yield from (name, f"{name}:*")
