"""The symbols of a user's watchlists: stocks, pairs, currencies and metals."""

from typing import Annotated, Any, Final, Literal

from litestar import Router, delete, get, post, put
from litestar.params import PathParameter, QueryParameter
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from quotecast.api.answers.answers import Answer, state_header
from quotecast.api.gate.identity import require_token, with_account
from quotecast.api.market.names import first_with, require_data
from quotecast.api.market.selection import symbol_of_path
from quotecast.api.market.services import NO_PROVIDER, HttpRequest, Services, combined_state, services_of
from quotecast.api.reference import examples
from quotecast.api.reference.account_operations import (
    SECURED,
    AccountOperation,
    QuotedOperation,
    answer,
    none_left,
    not_found,
    outcomes,
    taking,
)
from quotecast.api.reference.openapi import ID, described, refused
from quotecast.api.routes.bodies import body_of
from quotecast.errors import InvalidValue, NotFound, Problem, ProviderMissing, SymbolNotFound
from quotecast.market import codec
from quotecast.market.feeds import Feed, Kind, feed_of_kind
from quotecast.market.instruments import canonical_symbol
from quotecast.market.quotes import Quote
from quotecast.portfolio import watchlist
from quotecast.portfolio.watchlist import DEFAULT_LIST, LIST, MAX_ENTRIES, WatchedSymbol
from quotecast.users.account import Account

Include = Annotated[
    Literal["quote"] | None, QueryParameter(description="`quote` adds the last quote of each")
]
WatchedKind = Annotated[
    Kind | None,
    QueryParameter(name="type", description="Required if the list has the ticker under two types"),
]
Ticker = Annotated[
    str, PathParameter(description="In any case; a pair as `BTC%2FUSDT`, `BTC/USDT` or `BTC-USDT`")
]


ListId = Annotated[
    str, QueryParameter(name="list", description="Id of one of your watchlists; by default the first one")
]

_KINDS: Final = ", ".join(feed.spec.kind for feed in Feed)
KindGiven = Annotated[Kind | None, Meta(description=f"By default the first of {_KINDS} that has the ticker")]


class NewEntry(Struct, frozen=True):
    """The body of a request that adds an entry."""

    ticker: Annotated[str, Meta(description="A stock, pair, currency or metal, in any case")]
    type: KindGiven = None


class NamedSymbol(Struct, frozen=True):
    """A symbol by its ticker and type."""

    ticker: Annotated[str, Meta(description="In any case; a pair as `BTC/USDT` or `BTC-USDT`")]
    type: Kind


class NewOrder(Struct, frozen=True):
    """The body of a request that reorders a list."""

    symbols: Annotated[
        list[NamedSymbol],
        Meta(max_length=MAX_ENTRIES, description="The symbols that come first, in their order"),
    ]


class Entry(Struct, frozen=True):
    """An entry; `position` counts from 0. `quote` needs `include=quote`, and is null if there is none."""

    ticker: str
    type: Kind
    position: int
    added_at: str
    quote: Quote | UnsetType | None = UNSET


_ENTRY: Final = Entry("AAPL", "stock", 0, "2026-11-20T15:30:00.000Z")
_QUOTED: Final = Entry("AAPL", "stock", 0, "2026-11-20T15:30:00.000Z", examples.STOCK)
_FULL: Final = refused(
    "The list is full", Problem("You have the maximum of 500 watchlist entries; delete one first", "full", ID)
)
_UNKNOWN: Final = refused(
    "No feed has the symbol, or you have no such list",
    Problem("Symbol not found", "symbol_not_found", ID),
    Problem("Watchlist not found", "not_found", ID),
)
_NO_LIST: Final = {404: not_found(LIST)}


@get(
    "/",
    operation_id="getWatchlist",
    summary="Your watchlist",
    operation_class=QuotedOperation,
    responses=outcomes(200, list[Entry], [_QUOTED, _ENTRY], "In its order", 422, others=_NO_LIST),
)
async def entries(request: HttpRequest, include: Include = None, list_id: ListId = DEFAULT_LIST) -> Answer:
    """Positions count from 0, without gaps. New symbols are at the end."""
    listed = await with_account(request, lambda account: watchlist.entries(account, list_id))
    if include is None:
        return answer([_shown(entry) for entry in listed])
    services = services_of(request)
    state = combined_state(services, {feed_of_kind(entry.kind) for entry in listed})
    shown = []
    for entry in listed:
        found = services.mirrors[feed_of_kind(entry.kind)].find(entry.ticker)
        shown.append(_shown(entry, Raw(found.full_json()) if found else None))
    return answer(shown, 200, state_header(state))


@post(
    "/",
    operation_id="createWatchlistEntry",
    summary="Add to the watchlist",
    operation_class=taking(NewEntry, {"ticker": "AAPL", "type": "stock"}),
    responses=outcomes(
        201,
        Entry,
        _ENTRY,
        "Added at the end",
        body=True,
        others={200: described(Entry, _ENTRY, "The list had it already"), 404: _UNKNOWN, 409: _FULL},
    ),
)
async def add(request: HttpRequest, list_id: ListId = DEFAULT_LIST) -> Answer:
    """Adds an entry at the end; 200 if the list has it already."""
    given = await body_of(request, NewEntry)
    services = services_of(request)
    kind, ticker = resolve_ticker(services, given.ticker, given.type)
    now = services.wall_time()
    entry, is_new = await with_account(
        request, lambda account: watchlist.add(account, kind, ticker, now, list_id), writing=True
    )
    return answer(_shown(entry), 201 if is_new else 200)


@put(
    "/order",
    operation_id="updateWatchlistOrder",
    summary="Reorder the watchlist",
    operation_class=taking(
        NewOrder,
        {"symbols": [{"ticker": "MSFT", "type": "stock"}, {"ticker": "BTC/USDT", "type": "crypto"}]},
    ),
    responses=outcomes(200, list[Entry], [_ENTRY], "The list in its new order", body=True, others=_NO_LIST),
)
async def reorder(request: HttpRequest, list_id: ListId = DEFAULT_LIST) -> Answer:
    """No symbol is lost: those that the body does not name follow in their old order.

    The service ignores symbols that the list does not have.
    """
    given = await body_of(request, NewOrder)

    async def write(account: Account) -> list[WatchedSymbol]:
        listed = await watchlist.entries(account, list_id)
        keys = {(entry.kind, _canonical(entry.kind, entry.ticker)): entry.ticker for entry in listed}
        named = [(each.type, _canonical(each.type, each.ticker)) for each in given.symbols]
        wanted = [(kind, keys[kind, symbol]) for kind, symbol in named if (kind, symbol) in keys]
        return await watchlist.reorder(account, wanted, list_id)

    return answer([_shown(entry) for entry in await with_account(request, write, writing=True)])


@delete(
    "/{ticker:path}",
    operation_id="deleteWatchlistEntry",
    summary="Remove from the watchlist",
    operation_class=AccountOperation,
    responses=none_left("Removed", 422, others={404: not_found("Watchlist entry")}),
)
async def remove(
    request: HttpRequest, ticker: Ticker, kind: WatchedKind = None, list_id: ListId = DEFAULT_LIST
) -> None:
    """Removes an entry, even if no feed has its ticker any more."""
    wanted, services = symbol_of_path(ticker), services_of(request)

    async def write(account: Account) -> None:
        listed = await watchlist.entries(account, list_id)
        of_kind = [entry for entry in listed if kind in (None, entry.kind)]
        named = [
            entry
            for entry in of_kind
            if _canonical(entry.kind, entry.ticker) == _canonical(entry.kind, wanted)
        ]
        named = named or [entry for entry in of_kind if _is_meant(services, entry, wanted)]
        if not named:
            raise NotFound("Watchlist entry")
        if len(named) > 1:
            raise InvalidValue("type", f"Must be one of {', '.join(entry.kind for entry in named)}")
        await watchlist.remove(account, named[0], list_id)

    await with_account(request, write, writing=True)


def resolve_ticker(services: Services, ticker: str, kind: Kind | None) -> tuple[Kind, str]:
    """Returns kind and key of a ticker. Raises InvalidValue, SymbolNotFound, NoData or ProviderMissing."""
    if not ticker.strip():
        raise InvalidValue("ticker", "Must be a ticker")
    asked = [feed_of_kind(kind)] if kind else list(Feed)
    provided = [feed for feed in asked if services.providers[feed] != NO_PROVIDER]
    if kind and not provided:
        raise ProviderMissing(asked[0])
    found = first_with(services.mirrors, ticker, provided)
    if found is None:
        require_data(services.mirrors, ticker, provided)
        raise SymbolNotFound
    feed, entry = found
    return feed.spec.kind, entry.key


def _is_meant(services: Services, entry: WatchedSymbol, ticker: str) -> bool:
    """Returns whether both are symbols of one instrument, present or former ones."""
    found = services.mirrors[feed_of_kind(entry.kind)].keys_named([entry.ticker, ticker])
    return found[ticker] is not None and found[ticker] == found[entry.ticker]


def _canonical(kind: Kind, ticker: str) -> str | None:
    return canonical_symbol(feed_of_kind(kind), ticker)


def _shown(entry: WatchedSymbol, quote: Any = UNSET) -> Entry:
    """Returns an entry; its quote may be encoded JSON."""
    added_at = codec.iso_utc(entry.added_at.timestamp())
    return Entry(entry.ticker, entry.kind, entry.position, added_at, quote)


BODIES: Final[tuple[type[Struct], ...]] = (NewEntry, NewOrder)

ROUTER: Final = Router(
    "/api/watchlist",
    route_handlers=[entries, add, reorder, remove],
    guards=[require_token],
    security=SECURED,
    tags=["Watchlist"],
    opt={
        "tag": "What you keep an eye on: stocks, pairs, currencies and metals.",
        "feed": None,
        "limit": "watchlist",
    },
)
