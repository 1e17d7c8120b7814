"""A user's named watchlists: add, rename, move, delete."""

import contextlib
from typing import Annotated, Final

from litestar import Router, delete, get, patch, post
from litestar.params import FromPath
from msgspec import Meta, Struct

from quotecast.api.answers.answers import Answer
from quotecast.api.gate.identity import require_token, with_account
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import (
    SECURED,
    AccountOperation,
    answer,
    none_left,
    not_found,
    outcomes,
    taking,
)
from quotecast.api.reference.openapi import ID, refused
from quotecast.api.routes.bodies import body_of
from quotecast.api.routes.portfolio.watchlist import NamedSymbol, resolve_ticker
from quotecast.database.ids import new_id
from quotecast.errors import Problem, SymbolNotFound
from quotecast.market.feeds import Kind
from quotecast.portfolio import watchlist
from quotecast.portfolio.watchlist import LIST, MAX_ENTRIES, Watchlist
from quotecast.users import rules

MAX_NAME: Final = 60

Name = Annotated[str, Meta(description=f"1 to {MAX_NAME} characters; no other list has it, in any case")]


class NewWatchlist(Struct, frozen=True):
    """The body of a request that adds a list."""

    name: Name
    symbols: Annotated[
        list[NamedSymbol],
        Meta(
            max_length=MAX_ENTRIES,
            description="Its first symbols; the list leaves out those that no feed has",
        ),
    ] = []


class WatchlistChange(Struct, frozen=True):
    """The body of a request that renames or moves a list; a missing field changes nothing."""

    name: Name | None = None
    position: (
        Annotated[
            int, Meta(ge=0, le=100, description="The first list is at 0; a higher number means the end")
        ]
        | None
    ) = None


_LIST: Final = Watchlist("01a1fc87d5b47a905dd5d084", "Metals", 1, 2)
_TAKEN: Final = Problem("Another list has this name", "name_taken", ID)
_REFUSED: Final = refused(
    "The name is taken, or there are too many lists",
    _TAKEN,
    Problem("You have the maximum of 20 watchlists; delete one first", "full", ID),
)


@get(
    "/",
    operation_id="listWatchlists",
    summary="Your watchlists",
    operation_class=AccountOperation,
    responses=outcomes(
        200, list[Watchlist], [Watchlist("default", "Watchlist", 0, 4), _LIST], "In your order"
    ),
)
async def lists(request: HttpRequest) -> Answer:
    """The first list has the id `default`; it always exists. A request without `list` means this list."""
    return answer(await with_account(request, watchlist.lists))


@post(
    "/",
    operation_id="createWatchlist",
    summary="Add a watchlist",
    operation_class=taking(
        NewWatchlist, {"name": "Metals", "symbols": [{"ticker": "gram-altin", "type": "doviz"}]}
    ),
    responses=outcomes(201, Watchlist, _LIST, "Added at the end", body=True, others={409: _REFUSED}),
)
async def add(request: HttpRequest) -> Answer:
    """At most 20 lists, the first one included."""
    given = await body_of(request, NewWatchlist)
    services = services_of(request)
    name = rules.name(given.name, MAX_NAME)
    symbols: list[tuple[Kind, str]] = []
    for each in given.symbols:
        # A symbol that no feed has is left out.
        with contextlib.suppress(SymbolNotFound):
            symbols.append(resolve_ticker(services, each.ticker, each.type))
    now = services.wall_time()
    added = await with_account(
        request,
        lambda account: watchlist.add_list(account, new_id(services.clock), name, symbols, now),
        writing=True,
    )
    return answer(added, 201)


@patch(
    "/{list_id:str}",
    operation_id="updateWatchlist",
    summary="Rename or move a watchlist",
    operation_class=taking(WatchlistChange, {"name": "Gold and silver", "position": 1}),
    responses=outcomes(
        200,
        Watchlist,
        _LIST,
        "The changed list",
        body=True,
        others={404: not_found(LIST), 409: refused("The name is taken", _TAKEN)},
    ),
)
async def change(request: HttpRequest, list_id: FromPath[str]) -> Answer:
    """The first list can have another name, and no other position."""
    given = await body_of(request, WatchlistChange)
    name = None if given.name is None else rules.name(given.name, MAX_NAME)
    free_id = new_id(services_of(request).clock)
    changed = await with_account(
        request,
        lambda account: watchlist.change_list(account, list_id, name, given.position, free_id),
        writing=True,
    )
    return answer(changed)


@delete(
    "/{list_id:str}",
    operation_id="deleteWatchlist",
    summary="Delete a watchlist",
    operation_class=AccountOperation,
    responses=none_left("Deleted with its symbols", 422, others={404: not_found(LIST)}),
)
async def remove(request: HttpRequest, list_id: FromPath[str]) -> None:
    """The service answers 422 for the first list, which stays."""
    await with_account(request, lambda account: watchlist.remove_list(account, list_id), writing=True)


BODIES: Final[tuple[type[Struct], ...]] = (NewWatchlist, WatchlistChange)

ROUTER: Final = Router(
    "/api/watchlists",
    route_handlers=[lists, add, change, remove],
    guards=[require_token],
    security=SECURED,
    tags=["Watchlist"],
    opt={"feed": None, "limit": "watchlist"},
)
