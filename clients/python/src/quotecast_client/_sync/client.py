# Made by scripts/make_sync.py from _async; not to be edited.
"""The client."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from quotecast_client._sync.account import Account
from quotecast_client._sync.alerts import Alerts
from quotecast_client._sync.feeds import Feeds
from quotecast_client._sync.http import Http
from quotecast_client._sync.market import Market
from quotecast_client._sync.portfolio import Portfolio
from quotecast_client._sync.stream import BarStream, Following, Stream
from quotecast_client._sync.watchlists import Watchlists
from quotecast_client.calls import Call
from quotecast_client.keys import checked_key
from quotecast_client.retries import Limits
from quotecast_client.sessions import Wishes
from quotecast_client.settings import checked_address, feeds_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from typing_extensions import Self

    from quotecast_client._sync.io import TicketSource
    from quotecast_client.live_bars import LiveInterval

DEFAULT_ADDRESS = "http://127.0.0.1:8000"


class Client(Market, Account):
    """A client of one service: its market data, and the account of a user.

    `token` is of a user who has logged in; `feeds` is the WebSocket address of all feeds, if it is separate.
    `api_key` goes with requests and sockets. A client without a key may have a `ticket` source, which returns
    a new ticket for each socket.
    The client repeats idempotent requests up to `retries` times, after the wait that the service asks for,
    unless that is longer than `longest_wait` seconds.
    """

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        token: str | None = None,
        api_key: str | None = None,
        ticket: TicketSource | None = None,
        feeds: str | None = None,
        retries: int = 3,
        longest_wait: float = 60.0,
    ) -> None:
        if api_key is not None and ticket is not None:
            raise ValueError("a client has an API key or a source of tickets, not both")
        key, address = checked_key(api_key), checked_address(address)
        http = Http(address, token, key, Limits(retries, longest_wait))
        super().__init__(http)
        self.portfolio = Portfolio(http)
        self.watchlists = Watchlists(http)
        self.alerts = Alerts(http)
        self._feeds = Feeds(feeds or feeds_address(address), http, ticket)
        self._streams: weakref.WeakSet[Following[Any]] = weakref.WeakSet()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all streams, and closes the connections."""
        for stream in list(self._streams):
            stream.close()
        self._http.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        key: str | None = None,
    ) -> Any:
        """Returns the body of any route's answer; an `Idempotency-Key` makes a POST repeatable."""
        headers = {"Idempotency-Key": key} if key else {}
        return self._http.send(Call[Any](method, path, dict(query or {}), body, headers))

    def new_ticket(self) -> str:
        """Returns a ticket of the API key, which opens one socket or event stream within 30 seconds.

        A server gives it to a page, so that the key never reaches the browser.
        """
        answer = self._http.send(Call[Any]("POST", "/api/keys/ticket"))
        ticket: str = answer["ticket"]
        return ticket

    def stream(
        self, names: str | Iterable[str], *, interval: int = 250, fields: Sequence[str] | None = None
    ) -> Stream:
        """Returns the changes of quotes; a symbol has at most one per `interval` milliseconds.

        A plan of the API key may make the interval longer.
        Names are those of `quotes`, and groups such as `sector:Energy`. `fields` selects from those that
        move. The stream survives disconnections.
        """
        stream = Stream(self._feeds, names, self, Wishes(interval, fields))
        self._streams.add(stream)
        return stream

    def stream_bars(
        self, names: str | Iterable[str], bars: LiveInterval, *, interval: int = 250
    ) -> BarStream:
        """Returns live bars, after the closed ones before them; a final bar never changes."""
        stream = BarStream(self._feeds, names, self, Wishes(interval, None, bars))
        self._streams.add(stream)
        return stream
