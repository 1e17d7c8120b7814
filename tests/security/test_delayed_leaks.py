"""A client with delayed quotes asks every route: what the live market does changes no bit of its answers."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from msgspec.structs import replace

from quotecast.access.plans import Plan
from quotecast.api.views.delayed import DelayedMarket
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.market.bars import Bar, Interval, bar_time
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval, OwnBar
from quotecast.market.quotes import Quote
from support.made.documents import article, asset, assets_of, news_of
from support.made.factories import NOW, doviz, mirror_of, snapshot_of
from support.made.market import INFO, pair, stock
from support.made.memory_cache import MemoryCache
from support.oracles.plan_hunt import SYMBOLS, prepare, requests
from support.stages.account_service import AccountService, account_service

DELAY: Final = 900
PLANS: Final = {"anonymous": Plan(freshness="delayed"), "user": Plan(freshness="delayed")}
#: Names of headers that differ from answer to answer.
_OWN: Final = {"x-request-id", "date", "x-ratelimit-remaining", "x-ratelimit-reset"}
CALM: Final = 100.0
#: Prices of the live market that stand nowhere else.
LIVE: Final = (7777.77, 8888.88)

Answers = dict[str, tuple[int, str, str]]


def mirrors(price: float, seq: int) -> dict[Feed, Mirror]:
    """Returns mirrors of a market in which one instrument of each feed has the price."""
    made: dict[Feed, list[Quote]] = {
        Feed.STOCKS: [stock("PSN", price), stock("AAPL")],
        Feed.CRYPTO: [pair("PSN/USDT", price), pair("BTC/USDT")],
        Feed.DOVIZ: [replace(doviz("zehir-altin", "gold"), price=price), doviz("USD", "currency")],
    }
    found = {feed: mirror_of(feed, quotes) for feed, quotes in made.items()}
    for feed, mirror in found.items():
        mirror.load(snapshot_of(feed, made[feed], seq=seq, epoch=f"{seq:020x}", info=INFO))
    return found


def documents(headline: str) -> Documents:
    made = Documents()
    made.assets.take(assets_of(asset("PSN", "PSN Inc.")))
    made.news.take(news_of(article(headline=headline, symbols=["PSN"])))
    return made


class History:
    """An upstream whose newest bars have the live price."""

    name = "test"

    def __init__(self, price: float) -> None:
        self._price = price

    async def bars(self, _symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        now = datetime.fromtimestamp(NOW, UTC)
        lengths = {"1m": 60, "5m": 300, "15m": 900, "30m": 1800, "1h": 3600, "4h": 14_400}
        step = timedelta(seconds=lengths.get(interval, 86_400))
        opened = now.replace(hour=0, minute=0, second=0, microsecond=0) - 5 * timedelta(days=1)
        bars = []
        while opened <= now:
            price = self._price if opened + step > now - timedelta(seconds=DELAY) else CALM
            if start <= opened < end:
                bars.append(Bar(bar_time(opened), CALM, max(CALM, price), CALM, price, 5.0))
            opened += step
        return bars


class Stored:
    """A database whose newest bars have the live price."""

    def __init__(self, price: float) -> None:
        self._price = price

    async def read(
        self, _series: str, symbols: Sequence[str], interval: LiveInterval, start: datetime, end: datetime
    ) -> Mapping[str, Sequence[OwnBar]]:
        bars = await History(self._price).bars("", interval, start, end)
        own = [
            OwnBar(
                int(datetime.fromisoformat(bar.time).timestamp()),
                bar.open,
                bar.high,
                bar.low,
                bar.close,
                None,
                1,
            )
            for bar in bars
        ]
        return dict.fromkeys(symbols, own)


def service_of(accounts_url: str, live: float, plans: Mapping[str, Plan] = PLANS) -> Any:
    """Returns a service whose live market has a price, and whose delayed market is always the same."""
    history = History(live)
    return account_service(
        accounts_url,
        plans=plans,
        delayed=DelayedMarket(mirrors(CALM, 7), documents("Calm"), DELAY),
        mirrors=mirrors(live, 7 + int(live)),
        documents=documents(f"Price is {live}"),
        history={feed: {"test": history} for feed in Feed},
        stored_bars=Stored(live),
        cache=MemoryCache(lambda: NOW),
    )


async def answers(service: AccountService, headers: dict[str, str]) -> Answers:
    """Returns the answers of every GET route, each with its headers."""
    document = (await service.client.get("/api/openapi.json")).json()
    found: Answers = {}
    for path, query in requests(document):
        answer = await service.client.get(path, params=query, headers=headers)
        own = {name: value for name, value in answer.headers.items() if name not in _OWN}
        text = answer.text
        if "request_id" in text or "requestId" in text:
            text = text.replace(answer.headers.get("x-request-id", "-"), "")
        found[f"{path} {json.dumps(query, sort_keys=True)}"] = answer.status_code, json.dumps(own), text
    return found


@pytest.mark.parametrize("logged_in", [False, True])
async def test_no_answer_depends_on_the_live_market(accounts_url: str, *, logged_in: bool) -> None:
    """Two services differ in their live markets: bodies, tags, headers and refusals are equal.

    Where users see the live market, one asks everything first and so fills caches.
    """
    headers: dict[str, str] = {}
    found: list[Answers] = []
    for price in LIVE:
        plans = PLANS if logged_in else {**PLANS, "user": Plan()}
        async with service_of(accounts_url, price, plans) as service:
            if not headers:
                headers = {"Authorization": f"Bearer {(await prepare(service)).token}"}
            if not logged_in:
                assert str(price) in json.dumps(await answers(service, headers))
            found.append(await answers(service, headers if logged_in else {}))
    first, second = found
    assert first.keys() == second.keys()
    assert [path for path in first if first[path] != second[path]] == []
    texts = json.dumps(found)
    assert [price for price in LIVE if str(price) in texts] == []
    # Most routes answered: a comparison of refusals would show nothing.
    assert sum(status == 200 for status, _, _ in first.values()) > 50


async def test_the_comparison_finds_a_live_market(accounts_url: str) -> None:
    """Without the plan many answers differ: the test above can fail."""
    found = []
    for price in LIVE:
        async with service_of(accounts_url, price, {}) as service:
            found.append(await answers(service, {}))
    first, second = found
    differing = {path.partition(" ")[0] for path in first if first[path] != second[path]}
    assert len(differing) > 25


async def test_alerts_are_closed_to_delayed_users(accounts_url: str) -> None:
    """An alert tells that a live price crossed a threshold."""
    async with service_of(accounts_url, LIVE[0]) as service:
        user = await service.register()
        body = {"ticker": "PSN", "type": "stock", "measure": "price", "direction": "above", "threshold": 5000}
        for refused in (await user.post("/api/alerts", body), await user.get("/api/alerts/events")):
            assert (refused.status_code, refused.json()["code"]) == (403, "plan_freshness")


async def test_two_plans_without_a_key_share_no_cache(accounts_url: str) -> None:
    """Users see the live market, others the delayed one: no cache between may mix them up."""
    plans = {"anonymous": Plan(freshness="delayed"), "user": Plan()}
    async with service_of(accounts_url, LIVE[0], plans) as service:
        user = await service.register()
        path = "/api/market/quotes/PSN"
        late, live = await service.client.get(path), await user.get(path)
        assert (late.json()["price"], live.json()["price"]) == (CALM, LIVE[0])
        assert [each.headers["x-plan"] for each in (late, live)] == ["anonymous", "user"]
        for each in (late, live):
            assert "public" not in each.headers["cache-control"]
            assert "s-maxage" not in each.headers["cache-control"]


async def test_a_service_without_a_delay_shows_delayed_clients_nothing(accounts_url: str) -> None:
    async with account_service(accounts_url, plans=PLANS, mirrors=mirrors(LIVE[0], 9)) as service:
        for path in (
            "/api/market/quotes/PSN",
            "/api/crypto/quotes/PSN-USDT",
            f"/api/doviz/quotes/{SYMBOLS[Feed.DOVIZ]}",
        ):
            refused = await service.client.get(path)
            assert (refused.status_code, refused.json()["code"]) == (403, "plan_feeds")
        everything = await answers(service, {})
        assert str(LIVE[0]) not in json.dumps(everything)


async def test_the_first_minutes_say_when_delayed_quotes_begin(accounts_url: str) -> None:
    market = DelayedMarket({feed: Mirror(feed) for feed in Feed}, Documents(), DELAY)
    async with account_service(
        accounts_url, plans=PLANS, delayed=market, mirrors=mirrors(LIVE[0], 9)
    ) as service:
        refused = await service.client.get("/api/market/quotes/PSN")
        assert refused.status_code == 503
        detail = "No data yet for stocks; delayed quotes begin 900 s after the live ones"
        assert refused.json()["detail"] == detail


async def test_a_worker_is_ready_while_the_delayed_market_is_empty(accounts_url: str) -> None:
    """Else a balancer, which has no key, takes it from clients of the live market for the whole delay."""
    empty = DelayedMarket({feed: Mirror(feed) for feed in Feed}, Documents(), DELAY)
    live = mirrors(LIVE[0], 9)
    async with account_service(accounts_url, plans=PLANS, delayed=empty, mirrors=live) as service:
        ready = await service.client.get("/api/ready")
        assert (ready.status_code, ready.json()["status"]) == (200, "ready")
        assert {each["state"] for each in ready.json()["feeds"].values()} == {"down"}
        refused = await service.client.get("/api/market/quotes/PSN")
        assert (refused.status_code, refused.json()["code"]) == (503, "no_data")
