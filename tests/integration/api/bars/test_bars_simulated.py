"""Bars of the simulated market over HTTP, beside its quotes."""

from datetime import UTC, datetime

import pytest

from quotecast.api.market.services import series_of
from quotecast.bus.base import FeedInfo
from quotecast.market.bars import bar_time
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import OwnBar
from quotecast.providers.simulator.client import SimulatorProvider
from quotecast.simulation.market.history import SimulatorHistory
from support.made.factories import NOW
from support.stages.bar_service import BarService, new_service


@pytest.fixture
def service() -> BarService:
    return new_service()


async def simulate(
    service: BarService, feed: Feed, now: float, *, always_open: bool, speed: float = 1.0
) -> None:
    """Returns the simulated quotes of one moment and their history; the simulation began an hour before."""
    times = iter([now - 3600.0])
    provider = SimulatorProvider(
        feed, seed=3, rate=200, speed=speed, always_open=always_open, clock=lambda: next(times, now)
    )
    updates = provider.updates()
    service.now = now
    service.info = FeedInfo(provider="simulator", simulated=True, always_open=provider.always_open)
    service.quotes(feed, (await anext(updates)).quotes)
    service.histories[feed] = {"simulator": SimulatorHistory(feed, seed=3, always_open=always_open)}
    await updates.aclose()


@pytest.mark.slow
@pytest.mark.parametrize("speed", [1.0, 60.0, 0.5])
@pytest.mark.parametrize("now", [NOW, NOW + 12 * 3600])
@pytest.mark.parametrize(
    ("feed", "always_open", "path", "queries"),
    [
        (Feed.STOCKS, True, "/api/market/{}/AAPL", ["range=1D&interval=1m", "range=5D", "range=5Y"]),
        (Feed.STOCKS, False, "/api/market/{}/AAPL", ["range=1D", "range=1M&interval=4h", "range=YTD"]),
        (Feed.CRYPTO, True, "/api/crypto/{}/BTC-USDT", ["limit=1", "timeframe=D", "timeframe=M&limit=10"]),
    ],
)
async def test_simulated_bars_end_with_the_simulated_quote(
    service: BarService,
    feed: Feed,
    *,
    always_open: bool,
    path: str,
    queries: list[str],
    now: float,
    speed: float,
) -> None:
    """The last bar closes with the quote, during and after the session, at any speed."""
    await simulate(service, feed, now, always_open=always_open, speed=speed)
    quote = (await service.get(path.format("quotes"))).json()
    for query in queries:
        found = (await service.get(f"{path.format('bars')}?{query}")).json()
        times = [datetime.fromisoformat(each["time"]) for each in found]
        assert found[-1]["close"] == quote["price"]
        assert times[-1] <= datetime.fromisoformat(quote["timestamp"])
        assert times == sorted(set(times))


async def test_the_bars_of_a_session_agree_with_the_quote(service: BarService) -> None:
    """The bars of a session add up to the quote's open, high, low and volume."""
    await simulate(service, Feed.STOCKS, NOW, always_open=False)
    quote = (await service.get("/api/market/quotes/MSFT")).json()
    found = (await service.get("/api/market/bars/MSFT?range=1D&interval=1m")).json()
    assert len(found) == 61
    assert found[0]["open"] == quote["open"]
    assert max(each["high"] for each in found) == quote["high"]
    assert min(each["low"] for each in found) == quote["low"]
    assert sum(each["volume"] for each in found) == int(quote["volume"])


async def test_simulated_gold_has_a_past_of_years(service: BarService) -> None:
    """Own bars begin with the service: a chart would be one candle. A bank has its markup."""
    await simulate(service, Feed.DOVIZ, NOW, always_open=True)
    for symbol in ("gram-altin", "akbank-USD"):
        quote = (await service.get(f"/api/doviz/quotes/{symbol}")).json()
        for query, count in (("timeframe=D&limit=400", 400), ("timeframe=1m&limit=300", 300)):
            found = (await service.get(f"/api/doviz/bars/{symbol}?{query}")).json()
            assert len(found) == count
            assert found[-1]["close"] == quote["price"]
            assert {each["volume"] for each in found} == {None}
        (today,) = (await service.get(f"/api/doviz/bars/{symbol}?timeframe=D&limit=1")).json()
        assert (today["high"], today["low"]) == (quote["high"], quote["low"])


async def test_own_bars_of_gold_go_before_its_simulated_past(service: BarService) -> None:
    """A final bar is the one of the live feed; before the first own bar the past goes on without a gap."""
    await simulate(service, Feed.DOVIZ, NOW, always_open=True)
    minute = int(NOW) // 60 * 60
    own = [OwnBar(minute - 60 * ago, 1.0, 2.0, 0.5, 1.5, None, 9) for ago in (30, 29, 20)]
    series = series_of(service.mirrors[Feed.DOVIZ])
    service.stored.bars[series, "1m", "gram-altin"] = {each.opened: each for each in own}
    found = (await service.get("/api/doviz/bars/gram-altin?timeframe=1m&limit=60")).json()
    shown = {each["time"]: each for each in found}
    for bar in own[1:]:
        assert shown[bar_time(datetime.fromtimestamp(bar.opened, UTC))]["low"] == 0.5
    times = [datetime.fromisoformat(each["time"]).timestamp() for each in found]
    assert [each for each in times if each > own[0].opened] == [own[1].opened, own[2].opened]
    assert times[:20] == [times[0] + 60 * number for number in range(20)]
