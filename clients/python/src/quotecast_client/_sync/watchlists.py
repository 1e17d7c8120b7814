# Made by scripts/make_sync.py from _async; not to be edited.
"""Watchlists of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quotecast_client.calls import Call, path, without_none
from quotecast_client.rest_types import Entry, NamedSymbol, Watchlist

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quotecast_client._sync.http import Http


class Watchlists:
    """Lists of symbols; methods without `watchlist` are about the first list."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def lists(self) -> list[Watchlist]:
        """Returns the lists."""
        return self._http.send(Call[list[Watchlist]]("GET", "/api/watchlists"))

    def create(self, name: str, symbols: Iterable[NamedSymbol] = ()) -> Watchlist:
        """Adds a list."""
        body = {"name": name, "symbols": list(symbols)}
        return self._http.send(Call[Watchlist]("POST", "/api/watchlists", body=body))

    def change(self, watchlist: str, *, name: str | None = None, position: int | None = None) -> Watchlist:
        """Renames or moves a list."""
        body = without_none(name=name, position=position)
        return self._http.send(Call[Watchlist]("PATCH", path("/api/watchlists/{}", watchlist), body=body))

    def delete(self, watchlist: str) -> None:
        """Removes a list with its symbols."""
        self._http.send(Call[None]("DELETE", path("/api/watchlists/{}", watchlist)))

    def entries(self, watchlist: str | None = None, *, quotes: bool = False) -> list[Entry]:
        """Returns the symbols of a list, perhaps with their quotes."""
        query = {"include": "quote" if quotes else None, "list": watchlist}
        return self._http.send(Call[list[Entry]]("GET", "/api/watchlist", query))

    def add(self, ticker: str, kind: str | None = None, *, watchlist: str | None = None) -> Entry:
        """Adds a symbol; `kind` is `stock`, `crypto` or `doviz`, by default the first that has it."""
        body = without_none(ticker=ticker, type=kind)
        return self._http.send(Call[Entry]("POST", "/api/watchlist", {"list": watchlist}, body))

    def remove(self, ticker: str, kind: str | None = None, *, watchlist: str | None = None) -> None:
        """Removes a symbol."""
        query: dict[str, Any] = {"type": kind, "list": watchlist}
        self._http.send(Call[None]("DELETE", path("/api/watchlist/{}", ticker), query))
