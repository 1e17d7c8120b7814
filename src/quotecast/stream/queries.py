"""The queries of feeds' addresses."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import parse_qs

from msgspec.structs import replace

from quotecast.asgi import query_values
from quotecast.feed.commands import Query
from quotecast.market.feeds import Feed, feed_named
from quotecast.similar_names import misspelt, near_name

#: The parameters of a feed's address; on the socket of all feeds each list has its feed's name.
_COMMON: Final = frozenset(
    {"interval", "since", "fields", "bars", "bars_since", "snapshot", "heartbeat", "at", "speed", "ticket"}
)
_OF_FEED: Final = _COMMON | {"symbols"}
_OF_ALL: Final = _COMMON | {feed.spec.name for feed in Feed}


class Replay(NamedTuple):
    """The replay that an address asks for, unparsed."""

    at: str
    speed: str | None


def replay_of(query_string: bytes) -> Replay | None:
    """Returns the replay that an address asks for; None for the live feed."""
    moments, speeds = query_values(query_string, "at"), query_values(query_string, "speed")
    return Replay(moments[-1], speeds[-1] if speeds else None) if moments else None


def heartbeat_of(query_string: bytes) -> str | None:
    """Returns the seconds between heartbeats that an address asks for, unparsed."""
    values = query_values(query_string, "heartbeat")
    return values[-1] if values else None


def queries_of(query_string: bytes, feed: Feed | None) -> dict[str, Query]:
    """Returns what an address asks for, by the feed's name; on the socket of all feeds `feed` is None.

    There, each list is a parameter with the feed's name; `since` and `bars_since` have a value for each feed.
    `since=none` is for all.
    """
    given = _values_of(query_string)
    if feed is None:
        # The lists of feeds have the feeds' own names; `stocks` is `market`.
        named: dict[str, list[str]] = {}
        for name, values in given.items():
            named.setdefault(_name_of(name), []).extend(values)
        given = named
    found = misspelt(given, _OF_FEED if feed else _OF_ALL, near_name)
    unknown = {"unknown": found[0], "meant": found[1]} if found else {}
    if feed:
        query = _query(given, "symbols", _last(given, "since"), _last(given, "bars_since"))
        return {feed.spec.name: replace(query, **unknown) if unknown else query}
    lists = [each.spec.name for each in Feed if each.spec.name in given]
    cursors, times = _by_feed(given, "since"), _by_feed(given, "bars_since")
    if _last(given, "since") == "none":
        cursors = dict.fromkeys(lists, "none")
    queries = {
        name: _query(given, name, cursors.get(name), times.get(name))
        for name in dict.fromkeys([*lists, *cursors])
    }
    if not unknown:
        return queries
    # A misspelt feed alone is answered with the names that there are.
    return {name: replace(query, **unknown) for name, query in queries.items()} or {
        unknown["unknown"]: Query()
    }


def _name_of(text: str) -> str:
    feed = feed_named(text)
    return feed.spec.name if feed else text


def _values_of(query_string: bytes) -> Mapping[str, Sequence[str]]:
    """Returns the values of each parameter; without escapes it takes a third of the library's time."""
    text = query_string.decode("latin-1")
    if "%" in text or "+" in text:
        return parse_qs(text, keep_blank_values=True)
    given: dict[str, list[str]] = {}
    for part in text.split("&"):
        if part:
            name, _, value = part.partition("=")
            given.setdefault(name, []).append(value)
    return given


def _query(given: Mapping[str, Sequence[str]], name: str, since: str | None, bars_since: str | None) -> Query:
    symbols = given.get(name)
    return Query(
        # Lists add up when a client repeats them; of a single value the last counts.
        symbols=None if symbols is None else ",".join(symbols),
        interval=_last(given, "interval"),
        since=since,
        fields=_last(given, "fields"),
        bars=_last(given, "bars"),
        bars_since=bars_since,
        snapshot=_last(given, "snapshot"),
    )


def _by_feed(given: Mapping[str, Sequence[str]], name: str) -> dict[str, str]:
    """Returns the values of such a parameter as `since=market:<epoch>-<seq>,crypto:<epoch>-<seq>` by feed."""
    parts = [part.strip().partition(":") for part in (_last(given, name) or "").split(",") if part.strip()]
    return {_name_of(feed): value for feed, _, value in parts}


def _last(given: Mapping[str, Sequence[str]], name: str) -> str | None:
    return given.get(name, [None])[-1]
