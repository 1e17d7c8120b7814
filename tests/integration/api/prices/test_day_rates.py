"""Rates of past days."""

from datetime import date

from msgspec.structs import replace

from quotecast.access.plans import Reach
from quotecast.api.prices.closes import read_day_rates
from quotecast.market.feeds import Feed
from support.made.factories import doviz, full_mirrors, mirror_of, services
from support.stages.bar_service import Stored, write_closes


async def test_rates_before_a_plans_past_are_unknown() -> None:
    """They are no error: what needs no rate of that day goes on."""
    stored, day = Stored(), date(2026, 3, 2)
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-03-02": 30.0})
    dollar = replace(doviz("USD", "currency"), unit="1 USD", price=40.0)
    parts = services({**full_mirrors(), Feed.DOVIZ: mirror_of(Feed.DOVIZ, [dollar])}, stored_bars=stored)
    for reach, known in ((None, 30), (Reach("free", 1), None)):
        rates = await read_day_rates(replace(parts, reach=reach), {"USD"}, "TRY", day, day)
        assert rates.on("USD", day) == known
