# Made by scripts/make_sync.py from _async; not to be edited.
"""Streams of changes that survive disconnections."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Generic, TypeVar

from websockets.exceptions import WebSocketException

from quotecast_client._sync import io
from quotecast_client.backoff import Backoff
from quotecast_client.copies import NOTHING, BarChange, Changes, Copy, QuoteChange
from quotecast_client.endings import ending_of
from quotecast_client.errors import ApiError, ConnectionFailed, TicketMissing, UnknownSymbols
from quotecast_client.names import by_feed, listed
from quotecast_client.sessions import Session, State, Wishes

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from typing_extensions import Self

    from quotecast_client._sync.feeds import Feeds
    from quotecast_client._sync.market import Market
    from quotecast_client.names import Feed
    from quotecast_client.quotes import Quote

T = TypeVar("T")

_log = logging.getLogger("quotecast_client")


class Following(Generic[T]):
    """Changes of a list of symbols, over all feeds on one socket.

    It reconnects indefinitely and resumes by the cursors of its copies. Raises StreamRefused if that cannot
    help.
    """

    def __init__(self, feeds: Feeds, names: str | Iterable[str], market: Market, wishes: Wishes) -> None:
        #: The copy of each feed, for its `quotes`, `bars` and `cursor`.
        self.copies: dict[Feed, Copy] = {}
        self._feeds = feeds
        self._names = listed(names)
        self._market = market
        self._wishes = wishes
        self._unknown: list[str] = []
        self._session: Session | None = None
        self._socket: io.ClientConnection | None = None
        self._ending = io.Ending()
        self._changes = self._follow()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        return self._changes.__next__()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def quotes(self) -> dict[str, Quote]:
        """The last quote of every symbol; of equal symbols that of the first feed."""
        quotes: dict[str, Quote] = {}
        for copy in reversed(list(self.copies.values())):
            quotes.update(copy.quotes)  # in one step: another thread may read a stream
        return quotes

    @property
    def unknown(self) -> list[str]:
        """The names that no feed has."""
        return [*self._unknown, *sorted(self._session.rejected if self._session else ())]

    @property
    def states(self) -> dict[Feed, State]:
        """The state of each feed: `connecting`, `live`, `stale`, `down` or `refused`."""
        return dict(self._session.states) if self._session else {}

    def close(self) -> None:
        """Ends the stream, also from elsewhere than its loop."""
        self._ending.set()
        if self._socket is not None:
            self._socket.close()
        # A generator that runs ends by itself, as its socket is closed.
        with contextlib.suppress(RuntimeError, ValueError):
            self._changes.close()

    def _pick(self, changes: Changes) -> list[T]:
        raise NotImplementedError

    def _follow(self) -> Generator[T, None]:
        session = self._begin()
        while not self._ending.is_set:
            try:
                with self._feeds.open() as socket:
                    self._socket = socket
                    while not self._ending.is_set:
                        changes = session.take(io.receive(socket, session.silence))
                        for command in session.commands():
                            socket.send(command)
                        for change in self._pick(changes):
                            yield change
                        for feed in session.feeds_without_bars():
                            for change in self._pick(self._fill_bars(self.copies[feed])):
                                yield change
            except (OSError, WebSocketException, TicketMissing) as error:  # noqa: PERF203 - one a connection
                wait = session.lost(ending_of(error))
                address = self._feeds.address
                _log.info("lost the connection to %s: %r; connecting again in %.1f s", address, error, wait)
                self._ending.wait(wait)

    def _begin(self) -> Session:
        """Asks the service which feed has which symbol."""
        places, self._unknown = self._market.find(self._names)
        if not places:
            raise UnknownSymbols(self._unknown, self._market.proposals(self._unknown))
        session = Session(by_feed(places), self._wishes, Backoff())
        self.copies, self._session = session.copies, session
        return session

    def _fill_bars(self, copy: Copy) -> Changes:
        """Reads closed bars that the copy lacks; without an answer it asks again at the next heartbeat."""
        try:
            return copy.fill_bars(self._market.closed_bars(copy))
        except (ApiError, ConnectionFailed) as error:
            _log.warning("the bars before those of the stream are missing: %s", error)
            return NOTHING


class Stream(Following[QuoteChange]):
    """Changes of quotes."""

    def _pick(self, changes: Changes) -> list[QuoteChange]:
        return changes.quotes


class BarStream(Following[BarChange]):
    """Live bars, after the closed ones before them."""

    def _pick(self, changes: Changes) -> list[BarChange]:
        return changes.bars
