"""Names of feeds and symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Union

if TYPE_CHECKING:
    from collections.abc import Iterable

Feed = Literal["market", "crypto", "doviz"]
#: Symbols and groups of one feed, or all that it has.
Names = Union["frozenset[str]", Literal["all"]]

FEEDS: tuple[Feed, ...] = ("market", "crypto", "doviz")
#: Feeds by the names that clients may say.
_NAMED: dict[str, Feed] = {**{feed: feed for feed in FEEDS}, "stocks": "market", "stock": "market"}
#: The field of a quote that names its symbol.
KEYS: dict[Feed, str] = {"market": "ticker", "crypto": "ticker", "doviz": "symbol"}
#: The feeds of groups such as `sector:Energy`.
_GROUPS: dict[str, Feed] = {"sector": "market", "category": "doviz", "bank": "doviz"}


def listed(names: str | Iterable[str]) -> list[str]:
    """Returns names as a list; a text may have several, with commas between them."""
    given = names.split(",") if isinstance(names, str) else names
    return [name.strip() for name in given if name.strip()]


def split_name(name: str) -> tuple[tuple[Feed, ...], str]:
    """Returns the feeds that may have a symbol, in the order in which to ask them, and the symbol.

    `crypto:BTC/USDT` and `stocks:AAPL` name their feed, and so does a group. Only pairs have a slash, or a
    hyphen for it.
    """
    symbol = name.strip()
    prefix, colon, rest = symbol.partition(":")
    if colon:
        kind = prefix.casefold()
        if feed := named_feed(kind):
            return (feed,), rest
        if kind in _GROUPS:
            return (_GROUPS[kind],), symbol
    if "/" in symbol:
        return ("crypto",), symbol
    return ("market", "crypto", "doviz") if "-" in symbol else ("market", "doviz"), symbol


def named_feed(text: str) -> Feed | None:
    """Returns the feed of a name: `stocks` and `stock` are `market`."""
    return _NAMED.get(text.casefold())


def is_group(name: str) -> bool:
    """Returns whether a name means several symbols, which only the service knows."""
    return ":" in name


def is_plain(name: str) -> bool:
    """Returns whether only the service can say which feed has a name."""
    return len(split_name(name)[0]) > 1


def folded(name: str) -> str:
    """Returns a form that all spellings of a symbol share."""
    return name.casefold().replace("-", "/")


def by_feed(places: Iterable[tuple[Feed, str]]) -> dict[Feed, Names]:
    """Returns the list of each feed; `all` includes every other name."""
    lists: dict[Feed, set[str]] = {}
    for feed, symbol in places:
        lists.setdefault(feed, set()).add(symbol)
    return {feed: "all" if "all" in names else frozenset(names) for feed, names in lists.items()}
