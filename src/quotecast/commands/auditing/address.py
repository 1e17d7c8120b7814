"""Addresses of feeds: what to watch, and where to go on after a disconnection."""

from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from quotecast.errors import SettingsError
from quotecast_client import Copy, Feed
from quotecast_client.names import FEEDS, named_feed

_EXAMPLE: Final = "such as ws://127.0.0.1:8000/api/ws/market?symbols=all"
_PATH: Final = "/api/ws"


class FeedAddress(NamedTuple):
    """The address of one feed, or of the socket of all feeds, with its subscription."""

    base: str
    query: dict[str, str]
    #: The subscribed feeds, and whether each one's subscription is of all symbols.
    feeds: Mapping[Feed, bool]
    #: Whether the address is that of the socket of all feeds.
    is_shared: bool
    #: The address of the service's HTTP.
    rest: str

    def resume(self, copies: Mapping[Feed, Copy]) -> str:
        """Returns the address with the cursors of the copies."""
        cursors = {feed: copy.cursor for feed, copy in copies.items() if copy.cursor}
        query = dict(self.query)
        if cursors:
            named = ",".join(f"{feed}:{cursor}" for feed, cursor in cursors.items())
            query["since"] = named if self.is_shared else next(iter(cursors.values())) or ""
        return f"{self.base}?{urlencode(query, safe=',:/')}"


def read_address(url: str, rest: str | None) -> FeedAddress:
    """Returns the parts of an address; without symbols it means all. Raises SettingsError."""
    parts = urlsplit(url)
    head, path, tail = parts.path.partition(_PATH)
    name = tail.strip("/")
    if parts.scheme not in {"ws", "wss"} or not parts.netloc or not path or (name and name not in FEEDS):
        raise SettingsError(f"{url} is no address of a feed, {_EXAMPLE}")
    query = dict(parse_qsl(parts.query))
    if "at" in query:
        raise SettingsError("audit watches live feeds: leave out `at`, which asks for a replay")
    lists: dict[Feed, str] = {feed: names for each, names in query.items() if (feed := named_feed(each))}
    if name:
        lists = {feed: query.setdefault("symbols", "all") for feed in FEEDS if feed == name}
    elif not lists:
        lists = dict.fromkeys(FEEDS, "all")
        query.update(dict.fromkeys(FEEDS, "all"))
    http = "https" if parts.scheme == "wss" else "http"
    return FeedAddress(
        urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", "")),
        query,
        {feed: names.casefold() == "all" for feed, names in lists.items()},
        is_shared=not name,
        rest=(rest or f"{http}://{parts.netloc}{head}").rstrip("/"),
    )
