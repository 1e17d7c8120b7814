"""Answers from a feed name its state; caches store them for one second while it is stale."""

import signal
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from functools import partial
from typing import Final

import httpx
import pytest
from msgspec.structs import replace

from quotecast.api.answers.answers import cached_for
from quotecast.bus.base import FeedInfo
from quotecast.feed.mirror import STALE_AFTER_SECONDS, Mirror
from quotecast.market.feeds import Feed
from support.made.factories import MONOTONIC, NOW, client_of, doviz, full_mirrors, mirror_of, services
from support.runs.waits import wait_until
from support.servers.processes import Valkey
from support.servers.service import Service
from support.stages.account_service import User, account_service
from support.stages.bar_service import APPLE, BITCOIN, FRIDAY, History, bar

HEADER: Final = "x-feed-state"
#: Paths of answers from a mirror, and their feeds.
PATHS: Final = {
    "/api/market/quotes?symbols=all": Feed.STOCKS,
    "/api/market/quotes?symbols=AAPL,XXXX": Feed.STOCKS,
    "/api/market/quotes/AAPL": Feed.STOCKS,
    "/api/market/heatmap": Feed.STOCKS,
    "/api/market/movers": Feed.STOCKS,
    APPLE: Feed.STOCKS,
    "/api/crypto/quotes": Feed.CRYPTO,
    "/api/crypto/quotes/BTC-USDT": Feed.CRYPTO,
    "/api/crypto/symbols": Feed.CRYPTO,
    BITCOIN: Feed.CRYPTO,
    "/api/doviz/quotes": Feed.DOVIZ,
    "/api/doviz/quotes?category=gold": Feed.DOVIZ,
    "/api/doviz/quotes/gram-altin": Feed.DOVIZ,
    "/api/doviz/symbols": Feed.DOVIZ,
}


class Worker:
    """A worker whose feeds a test can make stale and live."""

    def __init__(self) -> None:
        self.mirrors = full_mirrors()
        self.now = MONOTONIC
        history = History(bar(FRIDAY - timedelta(hours=1)), bar(FRIDAY))
        self.client = client_of(
            services(
                self.mirrors,
                history={feed: {"test": history} for feed in (Feed.STOCKS, Feed.CRYPTO)},
                clock=lambda: NOW,
                monotonic=lambda: self.now,
            )
        )

    def rest(self) -> None:
        """Changes nothing."""

    def silence(self) -> None:
        """Makes the bus silent for too long."""
        self.now += STALE_AFTER_SECONDS + 1

    def beat(self, feed: Feed) -> None:
        """Sends a heartbeat without a change."""
        self.mirrors[feed].heard_at = self.now

    async def get(self, path: str, tag: str = "") -> httpx.Response:
        return await self.client.get(path, headers={"if-none-match": tag} if tag else {})


@pytest.mark.parametrize("path", PATHS)
async def test_an_answer_says_whether_its_feed_is_live(path: str) -> None:
    """`X-Feed-State` names the feed's state, in 200 and 304."""
    worker = Worker()
    states = []
    for change in (worker.rest, worker.silence, partial(worker.beat, PATHS[path])):
        change()
        whole = await worker.get(path)
        unchanged = await worker.get(path, whole.headers["etag"])
        assert (whole.status_code, unchanged.status_code) == (200, 304)
        assert unchanged.headers[HEADER] == whole.headers[HEADER]
        states.append(whole.headers[HEADER])
    assert states == ["live", "stale", "live"]


@pytest.mark.parametrize("path", PATHS)
async def test_a_tag_does_not_hide_that_the_feed_became_stale_or_live(path: str) -> None:
    """The tag includes the state, for caches that ignore headers of a 304."""
    worker = Worker()
    live = (await worker.get(path)).headers["etag"]
    worker.silence()
    became_stale = await worker.get(path, live)
    worker.beat(PATHS[path])
    became_live = await worker.get(path, became_stale.headers["etag"])
    assert (became_stale.status_code, became_live.status_code) == (200, 200)
    assert became_live.headers["etag"] == live


@pytest.mark.parametrize("path", PATHS)
async def test_a_stale_answer_is_kept_for_one_second_at_most(path: str) -> None:
    """Every stale answer has `max-age=1`."""
    worker = Worker()
    worker.silence()
    assert (await worker.get(path)).headers["cache-control"].startswith("public, max-age=1,")


async def test_bars_of_a_closed_market_say_that_their_feed_is_stale() -> None:
    """Bars of a closed market are live until the provider is overdue."""
    worker = Worker()
    answer = await worker.get(APPLE)
    worker.mirrors[Feed.STOCKS].info = FeedInfo(provider="test", overdue=True)
    overdue = await worker.get(APPLE)
    assert (answer.headers[HEADER], answer.headers["cache-control"]) == ("live", cached_for(5).decode())
    assert (overdue.headers[HEADER], overdue.headers["cache-control"]) == ("stale", cached_for(1).decode())


@pytest.mark.parametrize("stale", Feed)
async def test_a_stale_feed_marks_only_its_own_answers(stale: Feed) -> None:
    """A stale feed does not affect answers of other feeds."""
    worker = Worker()
    worker.silence()
    for feed in Feed:
        if feed is not stale:
            worker.beat(feed)
    for path, feed in PATHS.items():
        assert (await worker.get(path)).headers[HEADER] == ("stale" if feed is stale else "live")


async def test_a_script_of_another_origin_may_read_the_state() -> None:
    """CORS exposes the header."""
    worker = Worker()
    answer = await worker.client.get("/api/crypto/quotes", headers={"origin": "https://example.com"})
    assert "X-Feed-State" in answer.headers["access-control-expose-headers"].split(", ")


@pytest.mark.parametrize("path", ["/api/market/news", "/api/market/status", "/api/health"])
async def test_what_is_made_from_no_feed_says_nothing_of_one(path: str) -> None:
    """The status names the state of each feed in its body."""
    assert HEADER not in (await Worker().get(path)).headers


async def test_openapi_describes_the_header_where_it_is_sent() -> None:
    """On 200 and 304 of what is made from a feed, and nowhere else."""
    document = (await Worker().get("/api/openapi.json")).json()
    described = {
        path
        for path, item in document["paths"].items()
        for status, response in item.get("get", {"responses": {}})["responses"].items()
        if "X-Feed-State" in response.get("headers", {}) and status in {"200", "304"}
    }
    assert described == {
        "/api/search",
        "/api/market/quotes",
        "/api/market/quotes/{symbol}",
        "/api/market/heatmap",
        "/api/market/movers",
        "/api/market/bars/{symbol}",
        "/api/crypto/quotes",
        "/api/crypto/quotes/{symbol}",
        "/api/crypto/symbols",
        "/api/crypto/bars/{symbol}",
        "/api/doviz/quotes",
        "/api/doviz/quotes/{symbol}",
        "/api/doviz/symbols",
        "/api/doviz/bars/{symbol}",
        *(
            f"/api/{feed}/{batch}"
            for feed in ("market", "crypto", "doviz")
            for batch in ("bars", "sparklines")
        ),
        *(f"/api/udf/{name}" for name in ("quotes", "search", "symbols", "history")),
        *(
            f"/api/openbb/{feed}/{name}"
            for feed in ("market", "crypto", "doviz")
            for name in ("grid", "quotes", "symbols", "bars")
        ),
        *(f"/api/openbb/market/{name}" for name in ("groups", "movers", "heatmap")),
        *(f"/api/openbb/doviz/{name}" for name in ("groups", "banks", "instruments")),
        "/api/portfolio/allocation",
        "/api/portfolio/holdings",
        "/api/portfolio/positions",
        "/api/prices",
        "/api/quality",
        "/api/prices/{symbol}",
        "/api/prices/{symbol}/history",
        "/api/rates",
        "/api/watchlist",
    }
    schema = document["components"]["headers"]["X-Feed-State"]["schema"]
    assert schema == {"type": "string", "enum": ["live", "stale"]}


@pytest.fixture
def service(own_valkey: Valkey) -> Iterator[Service]:
    with Service(own_valkey, {"QUOTECAST_LIMITS": "off", "QUOTECAST_SIMULATOR_HOURS": "always"}) as running:
        yield running


def until(service: Service, state: str) -> httpx.Response:
    """Asks, as a frontend with a cache would, until the answer says that the feed is in a state."""
    tag = ""

    def asked() -> httpx.Response | None:
        nonlocal tag
        answer = service.get(APPLE, headers={"if-none-match": tag})
        tag = answer.headers["etag"]
        return answer if answer.headers[HEADER] == state else None

    return wait_until(asked, f"no answer was {state}")


@pytest.mark.slow
def test_bars_become_stale_while_the_ingest_hangs(service: Service) -> None:
    """Over real sockets; requests are repeated, so the short way of a repeated read says it too."""
    service.start("ingest", "api")
    until(service, "live")
    ingest = service.processes[0]
    ingest.send_signal(signal.SIGSTOP)
    stale = until(service, "stale")
    assert (stale.status_code, stale.headers["cache-control"]) == (200, cached_for(1).decode())
    ingest.send_signal(signal.SIGCONT)
    assert until(service, "live").status_code == 200


@pytest.fixture
def mirrors() -> dict[Feed, Mirror]:
    dollar = replace(doviz("USD", "currency"), unit="1 USD")
    return full_mirrors() | {Feed.DOVIZ: mirror_of(Feed.DOVIZ, [dollar, doviz("gram-altin", "gold")])}


@pytest.fixture
async def user(accounts_url: str, mirrors: dict[Feed, Mirror]) -> AsyncIterator[User]:
    async with account_service(accounts_url, mirrors=mirrors) as running:
        yield await running.register()


async def quoted(user: User, path: str) -> list[str]:
    """Returns the state with quotes and without."""
    answers = [await user.get(path, params=query) for query in ({"include": "quote"}, {})]
    return [answer.headers.get(HEADER, "") for answer in answers]


async def test_a_watchlist_with_quotes_says_whether_their_feeds_are_live(
    user: User, mirrors: dict[Feed, Mirror]
) -> None:
    """A watchlist with quotes names the state of its feeds."""
    await user.post("/api/watchlist", {"ticker": "AAPL"})
    mirrors[Feed.DOVIZ].heard_at = float("-inf")
    assert await quoted(user, "/api/watchlist") == ["live", ""]
    await user.post("/api/watchlist", {"ticker": "gram-altin"})
    assert await quoted(user, "/api/watchlist") == ["stale", ""]


async def test_a_portfolio_with_quotes_says_whether_their_feeds_are_live(
    user: User, mirrors: dict[Feed, Mirror]
) -> None:
    """A portfolio with quotes names the state of its feeds, including those of rates."""
    held = {"ticker": "AAPL", "shares": 1, "avg_cost": 1}
    await user.post("/api/portfolio/holdings", held)
    mirrors[Feed.DOVIZ].heard_at = float("-inf")
    assert await quoted(user, "/api/portfolio/holdings") == ["live", ""]
    converted = await user.get("/api/portfolio/holdings?include=quote&currency=TRY")
    assert converted.json()[0]["converted"]
    assert converted.headers[HEADER] == "stale"
    await user.post("/api/portfolio/holdings", held | {"currency": "TRY"})
    assert await quoted(user, "/api/portfolio/holdings") == ["stale", ""]
