"""The central bank's rates judge those of the Turkish market's sources."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import date

import pytest

from fakes.http import HTML_503
from fakes.turkey import FakeTurkey, MarketPrice, currency
from quotecast.providers.tcmb.client import Tcmb
from quotecast.providers.truncgil.client import Truncgil
from quotecast.providers.turkey.client import TurkeyProvider

NOW = 1_795_118_400.0
DAY = 86_400.0
FRIDAY = date(2026, 11, 20)
TODAY = "/kurlar/today.xml"

#: Lira for one yen, and for a hundredth of one, as Truncgil writes it at times.
YEN, SLIPPED = MarketPrice(0.2772, 0.2803), MarketPrice(0.002772, 0.002803)


class Passing:
    """Time that passes by sleeping alone."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
async def fake() -> AsyncIterator[FakeTurkey]:
    async with FakeTurkey() as fake:
        fake.bulletins = {FRIDAY: [currency("USD", "44.18"), currency("JPY", "28.4853", unit=100)]}
        fake.prices = {"USD": MarketPrice(44.10, 44.18), "JPY": SLIPPED, "ISK": MarketPrice(0.0034, 0.0035)}
        yield fake


def provider(fake: FakeTurkey, now: float = NOW) -> TurkeyProvider:
    clock = Passing(now)
    sources = [Truncgil(fake.url, fake.url)]
    return TurkeyProvider(sources, Tcmb(fake.url, clock=clock), clock=clock, sleep=clock.sleep)


async def test_first_rate_far_from_the_banks_is_refused(fake: FakeTurkey) -> None:
    """The bank's is for a hundred yen; a currency that the bank does not quote has no judge."""
    adapter = provider(fake)
    async with aclosing(adapter.updates()) as updates:
        first = await anext(updates)
        assert {quote.key for quote in first.quotes} == {"USD", "ISK", "tcmb-USD", "tcmb-JPY"}
        assert adapter.statistics() == {"far_off": 1}
        fake.prices["JPY"] = YEN
        assert [(quote.key, quote.price) for quote in (await anext(updates)).quotes] == [("JPY", 0.2803)]
        fake.prices["JPY"] = SLIPPED
        assert (await anext(updates)).quotes == []
    assert adapter.statistics() == {"far_off": 2}


async def test_a_yen_waits_for_the_first_bulletin(fake: FakeTurkey) -> None:
    """Its first rate may be for a hundred or for one."""
    fake.answers[TODAY] = HTML_503
    fake.prices["JPY"] = YEN
    async with aclosing(provider(fake).updates()) as updates:
        assert {quote.key for quote in (await anext(updates)).quotes} == {"USD", "ISK"}
        fake.answers.clear()
        # The bank is asked again after a quarter of an hour, the market each minute.
        for _ in range(20):
            if (update := await anext(updates)).quotes:
                break
        assert {quote.key: quote.price for quote in update.quotes}["JPY"] == 0.2803


async def test_late_bulletin_removes_what_is_far_off(fake: FakeTurkey) -> None:
    """Nothing judged the first rate; that slip does not make the true rate absurd."""
    fake.answers[TODAY] = HTML_503
    fake.prices["USD"] = MarketPrice(441.0, 441.8)
    async with aclosing(provider(fake).updates()) as updates:
        assert "USD" in {quote.key for quote in (await anext(updates)).quotes}
        fake.answers.clear()
        for _ in range(20):
            if (update := await anext(updates)).quotes:
                break
        assert update.removed == ["USD"]
        assert {quote.key for quote in update.quotes} == {"tcmb-USD", "tcmb-JPY"}
        fake.prices["USD"] = MarketPrice(44.10, 44.18)
        assert [quote.price for quote in (await anext(updates)).quotes] == [44.18]


async def test_old_bulletin_judges_nothing(fake: FakeTurkey) -> None:
    """The bank publishes nothing for six weeks while the lira moves."""
    async with aclosing(provider(fake, NOW + 42 * DAY).updates()) as updates:
        assert {quote.key for quote in (await anext(updates)).quotes} >= {"USD", "ISK"}
