"""What a path needs of a plan: feeds and ways to data; and the symbols that a request names."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl

from msgspec import Struct

from quotecast.access.errors import OutOfScope
from quotecast.access.plans import DOORS, Door
from quotecast.api.services import MarketServices
from quotecast.asgi import Scope
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.stream.relays import PATH as RELAY_PATH

_FEEDS: Final = {feed.spec.name: feed for feed in Feed}
_BARS: Final = frozenset({"bars", "history", "sparklines"})
#: The first parts of paths with data of the market, beside the feeds.
_DATA: Final = frozenset({"financials", "mcp", "openbb", "search", "sse", "udf"})
#: The first parts of paths without data of the market, or with that of the user alone, which the view bounds.
_WITHOUT_DATA: Final = frozenset(
    {
        *("auth", "portfolio", "watchlist", "watchlists", "alerts", "terminal", "keys", "admin"),
        *("health", "ready", "docs", "redoc", "swagger", "openapi.json", "asyncapi.json", "llms.txt"),
        "",  # `/api` itself
        *("widgets.json", "apps.json"),
        "ws",  # over HTTP, where it asks for an upgrade
    }
)
#: Reads of the symbols that the request names.
_BY_NAME: Final = frozenset({"quotes", "bars", "sparklines"})


class Needs(Struct, frozen=True):
    """The feeds and doors of a path; `rest` are the parts of the path behind the first one."""

    feeds: tuple[Feed, ...] = ()
    doors: tuple[Door, ...] = ()
    rest: tuple[str, ...] = ()


@lru_cache(maxsize=4096)
def needs_of(path: str, kind: str) -> Needs | None:
    """Returns what a path needs; None for paths that hold no data of the market."""
    if path == RELAY_PATH:
        return None
    first, *rest = _parts_of(path)
    feeds = tuple(_FEEDS[part] for part in (first, *rest[:2]) if part in _FEEDS)[:1]
    if kind == "websocket":
        grid: tuple[Door, ...] = ("openbb",) if rest[:1] == ["openbb"] else ()
        return Needs(feeds, ("websocket", *grid), (first, *rest))
    if first == "financials" or rest[:1] == ["company"]:
        feeds = (Feed.STOCKS,)
    holds_data = first in _FEEDS or first in _DATA
    return Needs(feeds, _doors_of(first, rest), (first, *rest)) if holds_data else None


def is_classified(path: str) -> bool:
    """Whether it is decided if a route holds data of the market; the gate lets other paths through."""
    first = _parts_of(path)[0]
    return path == RELAY_PATH or first in _FEEDS or first in _DATA or first in _WITHOUT_DATA


def _parts_of(path: str) -> list[str]:
    """Returns the parts of a path behind `/api`, as the router reads it; the first one may be empty."""
    parts = [part for part in path.split("/") if part]
    return (parts[1:] if parts[:1] == ["api"] else parts) or [""]


@lru_cache(maxsize=4096)
def is_live(path: str) -> bool:
    """Whether a path answers what only the live feeds know."""
    parts = [part for part in path.split("/") if part]
    return parts[:2] == ["api", "alerts"]


def _doors_of(first: str, rest: Sequence[str]) -> tuple[Door, ...]:
    """Returns the doors of a path over HTTP: the one that its first part names, and that of its data."""
    doors: list[Door] = [door for door in DOORS if door == first]
    if rest[:1] == ["company"] and first != "financials":
        doors.append("financials")
    elif _BARS.intersection(rest[:1] if first in _FEEDS else rest[-1:]):
        doors.append("bars")
    return tuple(doors)


def require_names(scope: Scope, only: Iterable[str], services: MarketServices) -> None:
    """Raises OutOfScope unless a request names only symbols that a key is for.

    A key for some symbols opens the routes that name symbols, and nothing that shows others.
    """
    needs = needs_of(scope["path"], "http")
    if needs is None or needs.rest[:1] in {("sse",), ("mcp",)}:
        # The feed judges the names; a tool's reads come through the gate.
        return
    first, *rest = needs.rest
    if first in _FEEDS and rest == ["status"]:
        return
    names = _named(rest, scope["query_string"])
    if first == "financials" and rest[:1] == ["company"]:
        names = rest[1:2]
    elif first not in _FEEDS or not rest or rest[0] not in _BY_NAME:
        names = []
    if not names or not _are_within(names, only, services.mirrors[_FEEDS.get(first, Feed.STOCKS)]):
        raise OutOfScope("This API key is for some symbols, and this request shows others")


def _named(rest: Sequence[str], query: bytes) -> list[str]:
    """Returns the symbols that a path or its only list names."""
    if len(rest) > 1:
        return ["/".join(rest[1:])]
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    lists = [value for name, value in pairs if name == "symbols"]
    # Of two lists the route may read the other one.
    return [name for name in map(str.strip, lists[0].split(",")) if name] if len(lists) == 1 else []


def _are_within(names: Iterable[str], only: Iterable[str], mirror: Mirror) -> bool:
    mine = [name for name in only if ":" not in name]
    groups = [mirror.group(name) for name in only if ":" in name]
    keys = frozenset(filter(None, [*mirror.keys_named(mine).values(), *groups]))
    allowed = mirror.keys_of(keys)
    return all(key is not None and key in allowed for key in mirror.keys_named(names).values())
