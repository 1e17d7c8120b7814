"""Rates between currencies, metals and coins on any day."""

from datetime import date
from typing import Annotated, Final

from litestar import Router, get
from litestar.params import QueryParameter
from msgspec import Struct, field

from quotecast.api.answers.answers import Answer
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.services import Services
from quotecast.api.prices.history import rates_on
from quotecast.api.prices.rates import RATE_FEEDS, RateShown, currency_of, rate_shown
from quotecast.api.reference.openapi import FeedReading, answered
from quotecast.api.route_table import EVERY
from quotecast.api.routes.as_of import AsOf, view_as_of
from quotecast.api.routes.market.day_answers import Day, answer_of_day, asked_day
from quotecast.api.routes.market.prices import GROUP, SHOWN_RATE
from quotecast.market.codec import encode_json
from quotecast.market.conversion import factor, round_amount

From = Annotated[str, QueryParameter(name="from", description="Currency, metal or coin, one unit of which")]
To = Annotated[str, QueryParameter(name="to", description="Currency, metal or coin in which the rate is")]


class ConversionRate(
    Struct, frozen=True, kw_only=True, rename={"source": "from", "target": "to", "day_asked": "dateAsked"}
):
    """The price of one unit of `from` in `to`: the product of `rates`.

    `date` is the oldest of theirs, `dateAsked` that of the request.
    """

    source: str = field(name="from")
    target: str = field(name="to")
    rate: float
    day: date | None = field(name="date")
    day_asked: date | None = field(name="dateAsked")
    rates: list[RateShown]


_CONVERSION: Final = ConversionRate(
    source="USD",
    target="TRY",
    rate=44.18,
    day=date(2026, 3, 31),
    day_asked=date(2026, 3, 31),
    rates=[SHOWN_RATE],
)


@get(
    "/",
    operation_id="getRate",
    summary="Rate between two currencies, on any day",
    operation_class=FeedReading,
    responses=answered(ConversionRate, _CONVERSION, "The rate", 422, 429, 503),
    opt={"symbols": "list"},
)
@repeatable
async def rate(
    services: Services, *, source: From, target: To, day: Day = None, as_of: AsOf = None
) -> Answer:
    """The shortest chain of quotes from one currency to the other: direct, inverse, or through others.

    Currencies are codes of ISO 4217, also those of metals (an ounce of `XAU`), and coins.
    """
    services = view_as_of(services, as_of)
    asked = asked_day(services, day)
    base, quoted = currency_of(services, "from", source), currency_of(services, "to", target)
    rates = await rates_on(services, base, quoted, asked)
    shown = [*map(rate_shown, rates)]
    found = ConversionRate(
        source=base,
        target=quoted,
        rate=float(round_amount(factor(rates))),
        day=min((each.day for each in shown if each.day), default=asked),
        day_asked=asked,
        rates=shown,
    )
    return answer_of_day(services, encode_json(found), RATE_FEEDS, asked)


ROUTER: Final = Router(
    "/api/rates",
    route_handlers=[rate],
    tags=["Prices"],
    opt={"feed": EVERY, "door": "bars", "limit": GROUP},
)
