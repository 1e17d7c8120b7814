"""A user's holdings and their valuation."""

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
from quotecast.api.reference.openapi import ID, TAG, refused
from quotecast.api.routes.bodies import body_of
from quotecast.api.routes.holdings_shown import (
    SHOWN,
    VALUED,
    HoldingShown,
    encode_holding,
    exchange_of,
    feeds_of,
    value_holding,
)
from quotecast.api.routes.new_holding import NewHolding, currency_code, fingerprint, holding_from
from quotecast.api.services import HttpRequest, combined_state, services_of
from quotecast.errors import InvalidValue, NotFound, Problem
from quotecast.market import codec

Include = Annotated[
    Literal["quote"] | None, QueryParameter(description="`quote` adds the current value of each holding")
]
Currency = Annotated[
    str | None,
    QueryParameter(
        description="With `include=quote`: an ISO 4217 code; each holding is also valued in this currency"
    ),
]

_KEY: Final = re.compile("[!-~]{1,255}")

_GIVEN: Final = {"ticker": "AAPL", "shares": 0.1, "avg_cost": 187.5, "bought_at": "2026-03-02"}
_FULL: Final = refused("The portfolio is full", Problem("At most 1000 holdings", "full", ID))


@get(
    "/holdings",
    summary="Your holdings",
    operation_class=QuotedOperation,
    security=SECURED,
    responses=outcomes(200, list[HoldingShown], [VALUED, SHOWN], "The newest first", 422),
)
async def holdings(request: HttpRequest, include: Include = None, currency: Currency = None) -> Answer:
    """Amounts are exact decimals. The feeds' rates convert a quote in another currency.

    `rates` names the quotes of the rates. A holding without a quote or without a rate to the requested
    currency has nulls: a client's sum omits it and should say so.
    """
    wanted = currency_code("currency", currency) if currency is not None else None
    owned = await with_account(request, portfolio.holdings)
    services = services_of(request)
    mirrors = services.mirrors
    if include is None:
        return answer([encode_holding(each, mirrors) for each in owned])
    rates = exchange_of(mirrors)
    worth = [value_holding(each, mirrors, rates, wanted) for each in owned]
    state = combined_state(services, set().union(*map(feeds_of, worth)))
    return answer(worth, 200, state_header(state))


@post(
    "/holdings",
    summary="Add a holding",
    operation_class=taking(NewHolding, _GIVEN, headers=replayable()),
    security=SECURED,
    responses=outcomes(201, HoldingShown, SHOWN, "The new holding", body=True, others={409: _FULL}),
)
async def add(request: HttpRequest) -> Answer:
    """With an `Idempotency-Key`, a retry within 24 hours gets the same answer and adds nothing."""
    key = _key(request)
    services = services_of(request)
    now = datetime.fromtimestamp(services.clock(), UTC)
    given = await body_of(request, NewHolding)
    new = holding_from(given, services.mirrors, new_id(services.clock), now)
    asked = fingerprint(given, new)
    body = codec.encode_json(encode_holding(new, services.mirrors))

    async def write(account: Account) -> bytes | None:
        if key and (answered := await portfolio.earlier_answer(account, key, asked, now)):
            return answered
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
    """Answers 404 for another user's holding too."""
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
    opt={TAG: "What you hold; amounts are exact decimals.", "limit": "portfolio"},
)
