"""A user's holdings and their valuation."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from litestar import Router, delete, get, patch, post
from litestar.params import FromPath, QueryParameter
from msgspec import UNSET, Meta, Struct, UnsetType

from quotecast.api.answers.answers import Answer, state_header
from quotecast.api.answers.csv import Format, formatted
from quotecast.api.gate.identity import require_token, with_account
from quotecast.api.market.names import Mirrors
from quotecast.api.market.services import HttpRequest, combined_state, services_of
from quotecast.api.prices.rates import rate_finder
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
from quotecast.api.routes.bodies import body_of
from quotecast.api.routes.portfolio import transactions
from quotecast.api.routes.portfolio.holding_values import (
    Cost,
    Shares,
    bought_at_of,
    cost_of,
    currency_code,
    shares_of,
    ticker_of,
    today_of,
)
from quotecast.api.routes.portfolio.holdings_shown import (
    SHOWN,
    TABLE,
    VALUED,
    HoldingShown,
    encode_holding,
    feeds_of,
    value_holding,
)
from quotecast.api.routes.portfolio.portfolio_csv import export, import_file
from quotecast.api.routes.portfolio.portfolio_value import performance, value
from quotecast.api.routes.portfolio.positions import allocation, list_positions
from quotecast.api.routes.portfolio.proposals import proposals
from quotecast.api.routes.retries import FULL, replay_key, run_once
from quotecast.database.ids import new_id, require_id
from quotecast.errors import InvalidValue
from quotecast.market import codec
from quotecast.portfolio import portfolio
from quotecast.portfolio.portfolio import Holding

_DAY: Final = "YYYY-MM-DD, not in the future"
_CODE: Final = "A code of ISO 4217, in any case"


class NewHolding(Struct, frozen=True):
    """The body of a request that adds a holding."""

    ticker: Annotated[str, Meta(description="A stock, pair, currency or metal, in any case")]
    shares: Shares
    avg_cost: Cost
    bought_at: Annotated[str | None, Meta(description=f"{_DAY}; today at its venue by default")] = None
    currency: Annotated[str, Meta(description=_CODE)] = "USD"


class HoldingChange(Struct, frozen=True):
    """The body of a request that changes a holding: at least one of the fields."""

    shares: Shares | UnsetType = UNSET
    avg_cost: Cost | UnsetType = UNSET
    bought_at: Annotated[str, Meta(description=_DAY)] | UnsetType = UNSET
    currency: Annotated[str, Meta(description=_CODE)] | UnsetType = UNSET


Include = Annotated[
    Literal["quote"] | None, QueryParameter(description="`quote` adds the current value of each holding")
]
Currency = Annotated[
    str | None,
    QueryParameter(
        description="With `include=quote`: an ISO 4217 code; each holding is also valued in this currency"
    ),
]

_GIVEN: Final = {"ticker": "AAPL", "shares": 0.1, "avg_cost": 187.5, "bought_at": "2026-03-02"}


@get(
    "/holdings",
    operation_id="listHoldings",
    summary="Your holdings",
    operation_class=QuotedOperation,
    responses=outcomes(200, list[HoldingShown], [VALUED, SHOWN], "The newest first", 422),
)
async def holdings(
    request: HttpRequest, include: Include = None, currency: Currency = None, form: Format = "json"
) -> Answer:
    """Amounts are exact decimals. The feeds' rates convert a quote in another currency.

    `rates` names the quotes of the rates. A holding without a quote or without a rate to the requested
    currency has nulls: a client's sum omits it and should say so.
    """
    wanted = currency_code(currency) if currency is not None else None
    owned = await with_account(request, portfolio.holdings)
    services = services_of(request)
    mirrors = services.mirrors
    if include is None:
        return formatted(answer([encode_holding(each, mirrors) for each in owned]), form, TABLE)
    rates = rate_finder(mirrors)
    worth = [value_holding(each, mirrors, rates, wanted) for each in owned]
    used = [feed for feed in set().union(*map(feeds_of, worth)) if mirrors[feed].loaded]
    state = combined_state(services, used)
    return formatted(answer(worth, 200, state_header(state)), form, TABLE)


@post(
    "/holdings",
    operation_id="createHolding",
    summary="Add a holding",
    operation_class=taking(NewHolding, _GIVEN, headers=replayable()),
    responses=outcomes(201, HoldingShown, SHOWN, "The new holding", body=True, others={409: FULL}),
)
async def add(request: HttpRequest) -> Answer:
    """With an `Idempotency-Key`, a retry within 24 hours gets the same answer and adds nothing."""
    key = replay_key(request)
    services = services_of(request)
    now = services.wall_time()
    given = await body_of(request, NewHolding)
    new = holding_from(given, services.mirrors, new_id(services.clock), now)
    asked = fingerprint(given, new)
    body = codec.encode_json(encode_holding(new, services.mirrors))
    return await run_once(request, key, asked, body, lambda account: portfolio.add(account, new))


@patch(
    "/holdings/{holding_id:str}",
    operation_id="updateHolding",
    summary="Change a holding",
    operation_class=taking(HoldingChange, {"shares": 0.25, "avg_cost": 190.1}),
    responses=outcomes(
        200, HoldingShown, SHOWN, "The changed holding", body=True, others={404: not_found("Holding")}
    ),
)
async def change(request: HttpRequest, holding_id: FromPath[str]) -> Answer:
    """Changes the fields that the body names. The ticker stays: another one is another holding."""
    services = services_of(request)
    given = await body_of(request, HoldingChange)
    values = changed_values(given, services.wall_time())
    require_id("Holding", holding_id)
    changed = await with_account(
        request, lambda account: portfolio.change(account, holding_id, values), writing=True
    )
    return answer(encode_holding(changed, services.mirrors))


@delete(
    "/holdings/{holding_id:str}",
    operation_id="deleteHolding",
    summary="Remove a holding",
    operation_class=AccountOperation,
    responses=none_left("Removed", others={404: not_found("Holding")}),
)
async def remove(request: HttpRequest, holding_id: FromPath[str]) -> None:
    """Answers 404 for another user's holding too."""
    require_id("Holding", holding_id)
    await with_account(request, lambda account: portfolio.remove(account, holding_id), writing=True)


BODIES: Final[tuple[type[Struct], ...]] = (NewHolding, HoldingChange, *transactions.BODIES)

ROUTER: Final = Router(
    "/api/portfolio",
    route_handlers=[
        holdings,
        add,
        change,
        remove,
        value,
        export,
        import_file,
        transactions.transactions,
        transactions.add,
        transactions.remove,
        transactions.import_transactions,
        list_positions,
        allocation,
        proposals,
        performance,
    ],
    guards=[require_token],
    security=SECURED,
    tags=["Portfolio"],
    opt={"tag": "What you hold; amounts are exact decimals.", "feed": None, "limit": "portfolio"},
)


def fingerprint(given: NewHolding, holding: Holding) -> bytes:
    """Returns bytes that are equal for a request and its retries, in any spelling.

    Defaults that the service fills in are not included: a retry may come a day later, or when the feeds
    spell the ticker in another way.
    """
    ticker = given.ticker.strip().upper()
    return codec.encode_json(
        (ticker, holding.shares, holding.avg_cost, given.bought_at, holding.currency),
    )


def holding_from(given: NewHolding, mirrors: Mirrors, holding_id: str, now: datetime) -> Holding:
    """Returns the holding to store. Raises InvalidValue."""
    ticker = ticker_of(given.ticker, mirrors)
    return Holding(
        id=holding_id,
        ticker=ticker,
        shares=shares_of(bytes(given.shares)),
        avg_cost=cost_of(bytes(given.avg_cost)),
        bought_at=today_of(ticker, mirrors, now)
        if given.bought_at is None
        else bought_at_of(given.bought_at, now),
        currency=currency_code(given.currency),
        created_at=now,
    )


def changed_values(given: HoldingChange, now: datetime) -> dict[str, Any]:
    """Returns the new values of a holding by column. Raises InvalidValue, also without any."""
    values: dict[str, Any] = {}
    if given.shares is not UNSET:
        values["shares"] = shares_of(bytes(given.shares))
    if given.avg_cost is not UNSET:
        values["avg_cost"] = cost_of(bytes(given.avg_cost))
    if given.bought_at is not UNSET:
        values["bought_at"] = bought_at_of(given.bought_at, now)
    if given.currency is not UNSET:
        values["currency"] = currency_code(given.currency)
    if not values:
        raise InvalidValue("shares", "Must be given, together with avg_cost, bought_at and currency")
    return values
