"""A user's holdings, and what they are worth."""

import re
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from litestar import Router, delete, get, post
from litestar.params import FromPath, QueryParameter
from msgspec import Struct

from quotecast.accounts import portfolio
from quotecast.accounts.account import Account
from quotecast.accounts.ids import ID_PATTERN, new_id
from quotecast.api.answers import JSON, Answer, state_header
from quotecast.api.edge.identity import require_token, with_account
from quotecast.api.parts import HttpRequest, parts_of, state_of
from quotecast.api.reference.account_operations import (
    SECURED,
    AccountOperation,
    QuotedOperation,
    answer,
    none_left,
    not_found,
    outcomes,
    replayable,
    taking,
)
from quotecast.api.reference.openapi import ID, refused
from quotecast.api.routes.bodies import body_of
from quotecast.api.routes.holdings_shown import SHOWN, VALUED, HoldingShown, exchange, feeds_of, shown, valued
from quotecast.api.routes.new_holding import NewHolding, checked, currency_code, fingerprint
from quotecast.errors import InvalidValue, NotFound, Problem
from quotecast.market import codec

Include = Annotated[
    Literal["quote"] | None, QueryParameter(description="`quote` adds what each holding is worth now")
]
Currency = Annotated[
    str | None,
    QueryParameter(description="With `include=quote`: a code of ISO 4217 that each holding is valued in too"),
]

_KEY: Final = re.compile("[!-~]{1,255}")

_GIVEN: Final = {"ticker": "AAPL", "shares": 0.1, "avg_cost": 187.5, "bought_at": "2026-03-02"}
_FULL: Final = refused("There are as many as there may be", Problem("At most 1000 holdings", "full", ID))


@get(
    "/holdings",
    summary="Your holdings",
    operation_class=QuotedOperation,
    security=SECURED,
    responses=outcomes(200, list[HoldingShown], [VALUED, SHOWN], "The newest first", 422),
)
async def holdings(request: HttpRequest, include: Include = None, currency: Currency = None) -> Answer:
    """Amounts are exact decimals. A quote in another currency is converted by the rates of the feeds.

    `rates` names the quotes that gave them. A holding without a quote, or without a way from its currency to
    the one asked for, has nulls: a sum leaves it out and has to say so.
    """
    wanted = currency_code("currency", currency) if currency is not None else None
    owned = await with_account(request, portfolio.holdings)
    parts = parts_of(request)
    mirrors = parts.mirrors
    if include is None:
        return answer([shown(each, mirrors) for each in owned])
    rates = exchange(mirrors)
    worth = [valued(each, mirrors, rates, wanted) for each in owned]
    state = state_of(parts, set().union(*map(feeds_of, worth)))
    return answer(worth, 200, state_header(state))


@post(
    "/holdings",
    summary="Add a holding",
    operation_class=taking(NewHolding, _GIVEN, headers=replayable()),
    security=SECURED,
    responses=outcomes(201, HoldingShown, SHOWN, "The new holding", body=True, others={409: _FULL}),
)
async def add(request: HttpRequest) -> Answer:
    """With an `Idempotency-Key`, a repetition within 24 hours is told the same and adds nothing."""
    key = _key(request)
    parts = parts_of(request)
    now = datetime.fromtimestamp(parts.clock(), UTC)
    given = await body_of(request, NewHolding)
    new = checked(given, parts.mirrors, new_id(parts.clock), now)
    asked = fingerprint(given, new)
    body = codec.encode_json(shown(new, parts.mirrors))

    async def write(account: Account) -> bytes | None:
        if key and (told := await portfolio.earlier_answer(account, key, asked, now)):
            return told
        await portfolio.add(account, new)
        if key:
            await portfolio.remember_answer(account, key, asked, body, now)
        return None

    replayed = await with_account(request, write, writing=True)
    headers = [(b"content-type", JSON), *([(b"idempotent-replayed", b"true")] if replayed else [])]
    return Answer(replayed or body, headers, tag=None, status=201)


@delete(
    "/holdings/{holding_id:str}",
    summary="Remove a holding",
    operation_class=AccountOperation,
    security=SECURED,
    responses=none_left("Removed", others={404: not_found("Holding")}),
)
async def remove(request: HttpRequest, holding_id: FromPath[str]) -> None:
    """Another user's holding is not found."""
    if not ID_PATTERN.fullmatch(holding_id):
        raise NotFound("Holding")
    await with_account(request, lambda account: portfolio.remove(account, holding_id), writing=True)


def _key(request: HttpRequest) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise InvalidValue("Idempotency-Key", "1 to 255 visible ASCII characters")
    return key


BODIES: Final[tuple[type[Struct], ...]] = (NewHolding,)

ROUTER: Final = Router(
    "/api/portfolio",
    route_handlers=[holdings, add, remove],
    guards=[require_token],
    tags=["Portfolio"],
    opt={"limit": "portfolio"},
)
