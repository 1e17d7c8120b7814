"""The quotes that names on the command line mean."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from quotecast.market.feeds import Feed as MarketFeed
from quotecast.market.groups import groups
from quotecast_client import Client, Feed, QuotecastError
from quotecast_client.names import KEYS, named_feed

Quote = dict[str, Any]
#: Feeds by the type of their quotes.
_TYPES: dict[str, Feed] = {"stock_quote": "market", "crypto_quote": "crypto", "doviz_quote": "doviz"}
#: Feeds by the kind of a group's name.
_GROUPS: dict[str, Feed] = {"sector": "market", "category": "doviz", "bank": "doviz"}
_SUGGESTIONS = 3


class Found(NamedTuple):
    """A symbol of a feed, and its quote."""

    feed: Feed
    symbol: str
    quote: Quote


def look_up(client: Client, names: Iterable[str]) -> tuple[list[Found], list[str]]:
    """Returns the quotes of symbols and groups in the order of the names, and the names that nobody knows.

    Raises the errors of the client.
    """
    given = list(dict.fromkeys(name.strip() for name in names))
    single: dict[str, Any] = {**client.quotes([name for name in given if not _whole_feed(name)])}
    found: dict[tuple[Feed, str], Found] = {}
    unknown = []
    for name in given:
        feed = _whole_feed(name)
        quotes = _members(client, feed, name) if feed else [single[name]] if name in single else []
        if not quotes:
            unknown.append(name)
        for quote in quotes:
            kind = _TYPES[quote["type"]]
            symbol = quote[KEYS[kind]]
            found.setdefault((kind, symbol), Found(kind, symbol, quote))
    return list(found.values()), unknown


def complaint(client: Client, unknown: Iterable[str]) -> str:
    """Returns a line for each unknown name, with the symbols or groups that it may mean."""
    lines = []
    for name in unknown:
        kind, feed = name.partition(":")[0].casefold(), _whole_feed(name)
        if feed and kind in _GROUPS:
            known = sorted(group for group in _groups(client, feed)[1] if group.startswith(f"{kind}:"))
            lines.append(f"There is no group {name}; there are {', '.join(known)}")
        else:
            guesses = _guesses(client, name)
            hint = f"; did you mean {', '.join(guesses)}?" if guesses else ""
            lines.append(f"No feed has {name}{hint}")
    return "\n".join(lines)


def _whole_feed(name: str) -> Feed | None:
    """Returns the feed of which a group or `all` needs every quote."""
    kind, colon, rest = name.partition(":")
    if not colon:
        return None
    if feed := named_feed(kind):
        return feed if rest.casefold() == "all" else None
    return _GROUPS.get(kind.casefold())


def _members(client: Client, feed: Feed, name: str) -> list[Quote]:
    quotes, members = _groups(client, feed)
    if named_feed(name.partition(":")[0]) == feed:
        return list(quotes.values())
    keys = next((keys for group, keys in members.items() if group.casefold() == name.casefold()), ())
    return [quotes[key] for key in sorted(keys)]


def _groups(client: Client, feed: Feed) -> tuple[dict[str, Quote], dict[str, frozenset[str]]]:
    """Returns all quotes of a feed, and the symbols of its groups."""
    quotes: dict[str, Any] = {**client.quotes([f"{feed}:all"])}
    spec = next(each.spec for each in MarketFeed if each.spec.name == feed)
    return quotes, groups(msgspec.convert(quotes, dict[str, spec.quote]), spec.groups)  # type: ignore[name-defined]


def _guesses(client: Client, name: str) -> list[str]:
    """Returns symbols that the search finds for a name, or for its beginning."""
    text = name.rpartition(":")[2]
    base = text.partition("/")[0]
    for tried in dict.fromkeys((text, base, base[:-1], base[:-2])):
        try:
            found = client.search(tried, limit=_SUGGESTIONS) if tried else []
        except QuotecastError:  # the search is a convenience
            return []
        if found:
            return [f"{each['ticker']} ({each['name']})" for each in found]
    return []
