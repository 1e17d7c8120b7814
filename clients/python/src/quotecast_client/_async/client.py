"""The client."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from quotecast_client._async.account import AsyncAccount
from quotecast_client._async.alerts import AsyncAlerts
from quotecast_client._async.feeds import AsyncFeeds
from quotecast_client._async.http import AsyncHttp
from quotecast_client._async.market import AsyncMarket
from quotecast_client._async.portfolio import AsyncPortfolio
from quotecast_client._async.stream import AsyncBarStream, AsyncFollowing, AsyncStream
from quotecast_client._async.watchlists import AsyncWatchlists
from quotecast_client.calls import Call
from quotecast_client.keys import checked_key
from quotecast_client.retries import Limits
from quotecast_client.sessions import Wishes
from quotecast_client.settings import checked_address, feeds_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from typing_extensions import Self

    from quotecast_client._async.io import TicketSource
    from quotecast_client.live_bars import LiveInterval

DEFAULT_ADDRESS = "http://127.0.0.1:8000"


class AsyncClient(AsyncMarket, AsyncAccount):
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
        http = AsyncHttp(address, token, key, Limits(retries, longest_wait))
        super().__init__(http)
        self.portfolio = AsyncPortfolio(http)
        self.watchlists = AsyncWatchlists(http)
        self.alerts = AsyncAlerts(http)
        self._feeds = AsyncFeeds(feeds or feeds_address(address), http, ticket)
        self._streams: weakref.WeakSet[AsyncFollowing[Any]] = weakref.WeakSet()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends all streams, and closes the connections."""
        for stream in list(self._streams):
            await stream.close()
        await self._http.close()

    async def request(
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
        return await self._http.send(Call[Any](method, path, dict(query or {}), body, headers))

    async def new_ticket(self) -> str:
        """Returns a ticket of the API key, which opens one socket or event stream within 30 seconds.

        A server gives it to a page, so that the key never reaches the browser.
        """
        answer = await self._http.send(Call[Any]("POST", "/api/keys/ticket"))
        ticket: str = answer["ticket"]
        return ticket

    def stream(
        self, names: str | Iterable[str], *, interval: int = 250, fields: Sequence[str] | None = None
    ) -> AsyncStream:
        """Returns the changes of quotes; a symbol has at most one per `interval` milliseconds.

        A plan of the API key may make the interval longer.
        Names are those of `quotes`, and groups such as `sector:Energy`. `fields` selects from those that
        move. The stream survives disconnections.
        """
        stream = AsyncStream(self._feeds, names, self, Wishes(interval, fields))
        self._streams.add(stream)
        return stream

    def stream_bars(
        self, names: str | Iterable[str], bars: LiveInterval, *, interval: int = 250
    ) -> AsyncBarStream:
        """Returns live bars, after the closed ones before them; a final bar never changes."""
        stream = AsyncBarStream(self._feeds, names, self, Wishes(interval, None, bars))
        self._streams.add(stream)
        return stream
