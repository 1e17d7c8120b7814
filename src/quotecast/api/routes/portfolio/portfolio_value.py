"""The value of the portfolio over time, and its gain and returns over a range, in one currency."""

import asyncio
import hashlib
from bisect import bisect_left
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Annotated, Final, Literal

from litestar import get
from litestar.params import QueryParameter
from msgspec import Struct

from quotecast.api.answers.answers import JSON, Answer, SharedBody
from quotecast.api.gate.identity import with_account
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.prices.closes import DayRates, read_day_rates
from quotecast.api.reference.account_operations import AccountOperation, answer, outcomes
from quotecast.api.routes.as_of import AsOf, view_as_of
from quotecast.api.routes.portfolio.holding_values import currency_code
from quotecast.api.routes.portfolio.worth_history import Missing, worth_history
from quotecast.cache.base import Policy
from quotecast.market.codec import encode_json
from quotecast.portfolio import transactions as stored
from quotecast.portfolio.ledger import Transaction, held_shares, valid_entries
from quotecast.portfolio.returns import Period, money_weighted, time_weighted
from quotecast.users.account import Account

#: Seconds for which an answer is the same, unless the holdings change.
_POLICY: Final = Policy(fresh_seconds=60, stale_seconds=120)
_VERSION: Final = 3

Span = Annotated[
    Literal["1M", "3M", "6M", "YTD", "1Y", "5Y"],
    QueryParameter(name="range", description="How far back the values reach: each day, of `5Y` each week"),
]
Currency = Annotated[str, QueryParameter(description="The ISO 4217 code of the values, in any case")]

#: Significant digits of a gain or a return.
_RETURN_DIGITS: Final = 12


class ValuePoint(Struct, frozen=True):
    """The value at the end of a day, so far of today; null where a close or a rate is unknown."""

    date: date
    value: float | None


class PortfolioValue(Struct, frozen=True, kw_only=True):
    """Values from the first purchase in the range on, and the tickers that they lack.

    A ticker is left out because no feed has it (`unknown`), because it has no bars in the range (`bars`) or
    no rate to the currency (`rate`), or because 100 symbols were read already (`limit`). A `late` ticker is
    not left out: its bars and rates begin `since` a day, and the values before it are null.
    """

    currency: str
    range: str
    points: list[ValuePoint]
    missing: list[Missing]


_SHOWN: Final = PortfolioValue(
    currency="USD",
    range="1M",
    points=[ValuePoint(date(2026, 11, 19), 18.771), ValuePoint(date(2026, 11, 20), 18.984)],
    missing=[Missing("GRAM-ALTIN", "rate")],
)


@get(
    "/value",
    operation_id="getPortfolioValue",
    summary="The value of your holdings over time",
    operation_class=AccountOperation,
    responses=outcomes(200, PortfolioValue, _SHOWN, "Ascending by date", 422),
)
async def value(
    request: HttpRequest, span: Span = "3M", currency: Currency = "USD", as_of: AsOf = None
) -> Answer:
    """Holdings and transactions count from their days on; a split of the ledger counts for all shares before.

    Closes are those of the daily bars that the service answers. Rates are closes of its doviz and crypto bars
    on the same day. A close stands for the ten days after it at most.

    With `as_of` the range ends then, and the values are of the entries that you had made and of the closes
    that the service had read. What you delete or change later is deleted or changed in all answers.
    """
    code, services = currency_code(currency), view_as_of(services_of(request), as_of)

    async def read(account: Account) -> tuple[str, list[Transaction]]:
        return account.user.id, await stored.ledger(account)

    user_id, entries = await with_account(request, read)
    if services.as_of is not None:
        entries = [each for each in entries if each.created_at.timestamp() <= services.as_of]
    owned = await asyncio.to_thread(lambda: held_shares(valid_entries(entries)))

    async def fetch() -> bytes:
        found = await worth_history(services, owned, span, code)
        points = [ValuePoint(*each) for each in zip(found.days, found.values, strict=True)]
        return encode_json(PortfolioValue(currency=code, range=span, points=points, missing=[*found.missing]))

    # Other holdings have another key at once, and so has a view with other feeds or another reach.
    lots = [(each.ticker, each.shares, each.day) for each in owned]
    digest = hashlib.blake2b(encode_json((user_id, services.view, lots)), digest_size=16).hexdigest()
    moment = "" if services.as_of is None else services.as_of
    key = f"portfolio:value{_VERSION}:{digest}:{span}:{code}:{moment}"
    cached = await services.cache.read(key, _POLICY, fetch)
    return Answer(SharedBody(cached.body), [(b"content-type", JSON)], tag=None)


class Performance(Struct, frozen=True, kw_only=True):
    """The gain is the last value and what was taken out, less the first value and what was paid in.

    Dividends count as taken out, and fees as paid in. Returns are parts, 0.1 for ten percent. A number is
    null where a close or a rate is unknown. Tickers of `missing` count in none of it, unless they are `late`.
    """

    currency: str
    range: str
    start: date
    end: date
    start_value: float | None
    end_value: float | None
    paid_in: float | None
    taken_out: float | None
    gain: float | None
    time_weighted_return: float | None
    money_weighted_return: float | None
    missing: list[Missing]


_PERFORMANCE: Final = Performance(
    currency="USD",
    range="1Y",
    start=date(2026, 3, 2),
    end=date(2026, 11, 20),
    start_value=0.0,
    end_value=1139.04,
    paid_in=1876.0,
    taken_out=802.5,
    gain=65.54,
    time_weighted_return=0.0352,
    money_weighted_return=0.0531,
    missing=[],
)


@get(
    "/performance",
    operation_id="getPerformance",
    summary="The returns of your portfolio",
    operation_class=AccountOperation,
    responses=outcomes(200, Performance, _PERFORMANCE, "The returns of the range", 422),
)
async def performance(request: HttpRequest, span: Span = "1Y", currency: Currency = "USD") -> Answer:
    """The time-weighted return is that of what was held, whatever was paid in: the product of all days.

    The money-weighted return is the interest that your payments had in that time. Payments are converted at
    the rates of their days. A range of five years counts by weeks.
    """
    code, services = currency_code(currency), services_of(request)
    entries = await asyncio.to_thread(valid_entries, await with_account(request, stored.ledger))
    worth = await worth_history(services, await asyncio.to_thread(held_shares, entries), span, code)
    absent = {each.ticker for each in worth.missing if each.reason != "late"}
    counted = [each for each in entries if each.ticker not in absent]
    currencies = {each.currency for each in counted if each.type != "split"}
    rates = await read_day_rates(services, currencies, code, worth.days[0], worth.days[-1])
    periods = await asyncio.to_thread(periods_of, counted, rates, worth.days, worth.values)
    first, last = worth.days[0], worth.days[-1]
    gains = (each.end_value + each.taken_out - each.start_value - each.paid_in for each in periods)
    found = Performance(
        currency=code,
        range=span,
        start=periods[0].before if periods else first,
        end=last,
        start_value=periods[0].start_value if periods else None,
        end_value=worth.values[-1],
        paid_in=_rounded(sum(each.paid_in for each in periods)) if periods else None,
        taken_out=_rounded(sum(each.taken_out for each in periods)) if periods else None,
        gain=_rounded(sum(gains)) if periods else None,
        time_weighted_return=_rounded(time_weighted(periods)),
        money_weighted_return=_rounded(money_weighted(periods)),
        missing=[*worth.missing],
    )
    return answer(found)


def periods_of(
    entries: Sequence[Transaction], rates: DayRates, days: Sequence[date], values: Sequence[float | None]
) -> list[Period]:
    """Returns the periods between the days with their values and payments; none if one of those is unknown.

    A portfolio that begins in the range has a period of its own before the first day.
    """
    trades = [each.date for each in entries if each.type in ("buy", "sell") and each.date <= days[-1]]
    opened = min(trades, default=days[0])
    step = days[1] - days[0] if len(days) > 1 else timedelta(days=1)
    is_new = opened > days[0] - step
    if is_new:
        # The days may begin with the purchase of a ticker that does not count.
        first = bisect_left(days, opened)
        days, values = days[first:], values[first:]
    paid, taken, fees = ([0.0] * len(days) for _ in range(3))
    for each in entries:
        place = bisect_left(days, each.date)
        # A split has no amounts.
        if each.type == "split" or place == len(days) or (place == 0 and not is_new):
            continue
        rate = rates.on(each.currency, each.date)
        if rate is None:
            return []
        amount = cash_of(each) * float(rate)
        paid[place] += max(amount, 0.0)
        taken[place] += max(-amount, 0.0)
        fees[place] += amount if each.type == "fee" else 0.0
    known = [value for value in values if value is not None]
    if len(known) < len(days):
        return []
    periods = []
    if is_new and trades:
        periods.append(Period(opened, days[0], 0.0, known[0], paid[0], taken[0], fees[0]))
    for place in range(1, len(days)):
        before, day = days[place - 1], days[place]
        values_then = known[place - 1], known[place]
        periods.append(Period(before, day, *values_then, paid[place], taken[place], fees[place]))
    return periods


def cash_of(entry: Transaction) -> float:
    """Returns what a transaction takes from the owner, negative for what it brings, in its currency."""
    shares, price, fee, amount = (
        float(each or 0) for each in (entry.shares, entry.price, entry.fee, entry.amount)
    )
    match entry.type:
        case "buy":
            return shares * price + fee
        case "sell":
            return fee - shares * price
        case "dividend":
            return -amount
        case "fee":
            return amount
        case _:
            return 0.0


def _rounded(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.{_RETURN_DIGITS}g}")
