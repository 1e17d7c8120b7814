"""The Turkish market's adapter against local sources: its quotes, and the failures that it survives."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import date, timedelta

import pytest

from fakes.http import ENDLESS, HTML_503, REDIRECT, SERVER_ERROR, TOO_MANY, TRUNCATED, Answer, huge
from fakes.turkey import FAILED, FakeTurkey, MarketPrice, currency
from quotecast.errors import UpstreamError
from quotecast.market.quotes import DovizQuote
from quotecast.providers.base import Update
from quotecast.providers.genelpara.client import GenelPara
from quotecast.providers.tcmb.client import Tcmb
from quotecast.providers.truncgil.client import Truncgil
from quotecast.providers.turkey.client import TurkeyProvider

NOW = 1_795_118_400.0
FRIDAY = date(2026, 11, 20)
TODAY, V4, V5, V3, SPARE = (
    "/kurlar/today.xml",
    "/v4/today.json",
    "/api/today.json",
    "/v3/today.json",
    "/json/",
)


class Time:
    """Seconds that pass by sleeping alone."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


@pytest.fixture
async def fake() -> AsyncIterator[FakeTurkey]:
    async with FakeTurkey() as fake:
        fake.prices = {
            "USD": MarketPrice(44.10, 44.18, 0.12),
            "gram-altin": MarketPrice(6640.10, 6641.00, 0.4),
            "ons": MarketPrice(4000.10, 4000.76, -0.1),
            "XU100": MarketPrice(14215.3, 14215.3, 1.0),
        }
        fake.bulletins = {
            FRIDAY: [currency("USD", "44.1800", "44.1000"), currency("JPY", "28.4853", "28.29", unit=100)],
            FRIDAY - timedelta(days=3): [currency("USD", "44.0000", "43.9000")],
        }
        yield fake


@pytest.fixture
def time() -> Time:
    return Time()


def provider(fake: FakeTurkey, time: Time) -> TurkeyProvider:
    return TurkeyProvider(
        [Truncgil(fake.url, fake.url), GenelPara(fake.url)],
        Tcmb(fake.url, clock=time),
        clock=time,
        sleep=time.sleep,
    )


async def polled(adapter: TurkeyProvider, count: int = 1) -> list[Update]:
    """The first updates."""
    async with asyncio.timeout(20), aclosing(adapter.updates()) as updates:
        return [await anext(updates) for _ in range(count)]


def by_symbol(update: Update) -> dict[str, DovizQuote]:
    return {quote.key: quote for quote in update.quotes if isinstance(quote, DovizQuote)}


async def failure(adapter: TurkeyProvider) -> UpstreamError:
    async with asyncio.timeout(20):
        with pytest.raises(UpstreamError) as caught:
            async for _ in adapter.updates():
                pass
    return caught.value


def paths(fake: FakeTurkey) -> list[str]:
    return [asked.path for asked in fake.requests]


async def test_market_and_bank_come_together(fake: FakeTurkey, time: Time) -> None:
    """Each quote says truly where it comes from."""
    [update] = await polled(provider(fake, time))
    quotes = by_symbol(update)
    assert {symbol: quote.provider for symbol, quote in quotes.items()} == {
        "USD": "truncgil",
        "gram-altin": "truncgil",
        "ons": "truncgil",
        "XU100": "truncgil",
        "tcmb-USD": "tcmb",
        "tcmb-JPY": "tcmb",
    }
    gold, dollar = quotes["gram-altin"], quotes["tcmb-USD"]
    assert (gold.name, gold.buying, gold.selling, gold.price) == ("Gram Altın", 6640.1, 6641.0, 6641.0)
    assert (dollar.change, dollar.previous_close) == (0.18, 44.0)
    assert quotes["tcmb-JPY"].selling == 0.284853


async def test_bulletin_before_is_looked_for_over_days_without_one(fake: FakeTurkey, time: Time) -> None:
    """In the archive, once: it does not change."""
    adapter = provider(fake, time)
    await polled(adapter)
    assert [path for path in paths(fake) if path.startswith("/kurlar/")] == [
        TODAY,
        "/kurlar/202611/19112026.xml",
        "/kurlar/202611/18112026.xml",
        "/kurlar/202611/17112026.xml",
    ]
    time.now += 1000
    await polled(adapter, 2)
    assert paths(fake).count("/kurlar/202611/17112026.xml") == 1


async def test_unchanged_prices_are_not_told_again(fake: FakeTurkey, time: Time) -> None:
    """The source's clock moves while its prices stand still; the poll is a sign of life all the same."""
    adapter = provider(fake, time)
    async with asyncio.timeout(20), aclosing(adapter.updates()) as updates:
        await anext(updates)
        fake.update_date = "2026-11-20 14:06:01"
        assert (await anext(updates)).quotes == []
        fake.prices["USD"] = MarketPrice(44.11, 44.19, 0.14)
        [moved] = (await anext(updates)).quotes
    assert (moved.key, moved.price, moved.timestamp) == ("USD", 44.19, "2026-11-19T20:02:00Z")


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize(
    ("broken", "version"), [([], V4), ([V4], V5), ([V4, V5], V3)], ids=["v4", "v5", "v3"]
)
async def test_versions_tell_the_same(
    fake: FakeTurkey, broken: list[str], version: str, *, as_text: bool
) -> None:
    """The newest that answers, in whichever style it writes."""
    fake.as_text = as_text
    fake.answers = dict.fromkeys(broken, SERVER_ERROR)
    found = {
        rate.symbol: (float(rate.buying or 0), float(rate.selling))
        for rate in (await Truncgil(fake.url, fake.url).read()).rates
    }
    assert found == {symbol: (each.buying, each.selling) for symbol, each in fake.prices.items()}
    assert paths(fake) == [*broken, version]


BAD_ANSWERS = {
    "html": HTML_503,
    "server error": SERVER_ERROR,
    "truncated": TRUNCATED,
    "redirect": REDIRECT,
    "huge": huge(),
    "endless": ENDLESS,
    "without rates": Answer(b'{"Update_Date":"2026-11-20 14:05:01"}'),
    "zero": Answer.of({"USD": {"Type": "Currency", "Selling": 0}}),
    "not a number": Answer(b'{"USD":{"Type":"Currency","Selling":NaN}}'),
}


@pytest.mark.parametrize("answer", BAD_ANSWERS.values(), ids=BAD_ANSWERS.keys())
async def test_spare_stands_in_when_every_version_fails(fake: FakeTurkey, time: Time, answer: Answer) -> None:
    """Its quotes bear its name; what it does not have stays as it was."""
    adapter = provider(fake, time)
    await polled(adapter)
    fake.answers = dict.fromkeys([V4, V5, V3], answer)
    fake.prices["USD"] = MarketPrice(44.11, 44.19, 0.14)
    time.now += 60
    quotes = by_symbol((await polled(adapter))[0])
    assert quotes.keys() == {"USD", "gram-altin", "ons", "XU100", "tcmb-USD", "tcmb-JPY"}
    assert (quotes["USD"].provider, quotes["USD"].price) == ("genelpara", 44.19)
    assert quotes["ons"].provider == "truncgil"
    assert "/elsewhere" not in paths(fake)


@pytest.mark.parametrize("missing", [0, 100], ids=["by the source", "by the connection"])
async def test_answer_that_is_cut_short_keeps_what_is_whole(
    fake: FakeTurkey, time: Time, missing: int
) -> None:
    """When no other version is whole; its first timestamps are the source's."""
    row = {"Type": "Currency", "Buying": 44.1, "Selling": 44.18, "Change": 0.12}
    body = Answer.of({"Update_Date": "2026-11-19 22:58:01", "USD": row, "EUR": row}).body
    assert body
    cut = Answer(body[:-30], missing=missing)
    fake.answers = {V4: cut, V5: SERVER_ERROR, V3: SERVER_ERROR}
    [update] = await polled(provider(fake, time))
    market = {key: quote for key, quote in by_symbol(update).items() if quote.provider == "truncgil"}
    assert market.keys() == {"USD"}
    assert market["USD"].timestamp == "2026-11-19T19:58:01Z"
    fake.answers = {V4: cut}
    assert (await Truncgil(fake.url, fake.url).read()).whole


async def test_first_source_takes_over_again_when_it_heals(fake: FakeTurkey, time: Time) -> None:
    """And the spare is spared."""
    adapter = provider(fake, time)
    fake.answers = dict.fromkeys([V4, V5, V3], HTML_503)
    async with asyncio.timeout(20), aclosing(adapter.updates()) as updates:
        assert by_symbol(await anext(updates))["USD"].provider == "genelpara"
        fake.answers.clear()
        while "USD" not in (quotes := by_symbol(await anext(updates))):
            pass
        assert quotes["USD"].provider == "truncgil"
        spared = paths(fake).count(SPARE)
        for _ in range(20):
            await anext(updates)
    assert paths(fake).count(SPARE) == spared == 3


async def test_sources_are_asked_at_their_own_pace(fake: FakeTurkey, time: Time) -> None:
    """In an hour: the market each minute, the bank each quarter, the spare not at all."""
    async with asyncio.timeout(20), aclosing(provider(fake, time).updates()) as updates:
        while time.now < NOW + 3600 - 1:
            await anext(updates)
    assert paths(fake).count(V4) in (60, 61)
    assert paths(fake).count(TODAY) in (4, 5)
    assert SPARE not in paths(fake)


async def test_spare_keeps_within_a_thousand_requests_a_day(fake: FakeTurkey, time: Time) -> None:
    """Even when the first source is away, which is asked ever more seldom: a quarter of a day."""
    fake.answers = dict.fromkeys([V4, V5, V3], HTML_503)
    async with asyncio.timeout(60), aclosing(provider(fake, time).updates()) as updates:
        while time.now < NOW + 86_400 / 4:
            await anext(updates)
    assert 200 < paths(fake).count(SPARE) < 250
    assert paths(fake).count(V4) < 50


async def test_source_that_wants_to_be_left_alone_is(fake: FakeTurkey, time: Time) -> None:
    """No version of it is asked before the time that it named."""
    fake.answers[V4] = Answer(TOO_MANY.body, 429, headers={"Retry-After": "3000"})
    async with asyncio.timeout(20), aclosing(provider(fake, time).updates()) as updates:
        while time.now < NOW + 2600:
            await anext(updates)
    assert paths(fake).count(V4) == 1
    assert V5 not in paths(fake)


async def test_nothing_that_answers_is_an_error_at_once(fake: FakeTurkey, time: Time) -> None:
    """An empty feed must not look healthy."""
    fake.everywhere = HTML_503
    assert "503" in str(await failure(provider(fake, time)))


async def test_everything_that_falls_silent_is_an_error(fake: FakeTurkey, time: Time) -> None:
    """The adapter raises after a while; its quotes stay, and it sends them again once a source answers."""
    adapter = provider(fake, time)
    await polled(adapter)
    fake.everywhere = HTML_503
    before = time.now
    await failure(adapter)
    assert time.now - before > adapter.silence_seconds
    # A reconnection is no sign of life: the feed stays stale.
    with pytest.raises(UpstreamError):
        await polled(adapter)
    fake.everywhere = None
    time.now += 3600
    assert len(by_symbol((await polled(adapter))[0])) == 6


async def test_failure_told_with_success_is_one(fake: FakeTurkey) -> None:
    """GenelPara tells failures so."""
    fake.answers[SPARE] = FAILED
    with pytest.raises(UpstreamError, match="failure"):
        await GenelPara(fake.url).read()


async def test_absurd_price_never_gets_out(fake: FakeTurkey, time: Time) -> None:
    """A source that slips a decimal is not believed; the others move."""
    adapter = provider(fake, time)
    async with asyncio.timeout(20), aclosing(adapter.updates()) as updates:
        await anext(updates)
        fake.prices["ons"] = MarketPrice(400010.0, 400076.0, 0.12)
        fake.prices["gram-altin"] = MarketPrice(6650.0, 6651.0, 0.5)
        assert by_symbol(await anext(updates)).keys() == {"gram-altin"}
    assert adapter.statistics() == {"absurd": 1}


async def test_the_bank_alone_is_a_provider(fake: FakeTurkey, time: Time) -> None:
    """Without the market's sources."""
    adapter = TurkeyProvider([], Tcmb(fake.url, clock=time), clock=time, sleep=time.sleep)
    assert adapter.name == "tcmb"
    assert by_symbol((await polled(adapter))[0]).keys() == {"tcmb-USD", "tcmb-JPY"}
    assert not {V4, V5, V3, SPARE} & set(paths(fake))
