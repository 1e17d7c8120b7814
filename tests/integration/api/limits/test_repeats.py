"""Repeated reads, which skip routing."""

from collections.abc import AsyncIterator

import httpx
import pytest
from msgspec.structs import replace

from fakes.financials import COMPANY, FakeFinancials
from quotecast.api.limits import repeats
from quotecast.api.limits.repeats import MAX_URLS, Repeats
from quotecast.api.limits.throttle import Throttle
from quotecast.api.middleware.middleware import Middleware
from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.errors import UpstreamError
from quotecast.feed.documents import Documents
from quotecast.limits.decision import Decision
from quotecast.limits.fallback import SECOND, LocalWindow
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from support.made.documents import article, asset, assets_of, news_of
from support.made.factories import NOW, app_of, client_to, full_mirrors, services
from support.made.market import stock
from support.made.memory_cache import MemoryCache
from support.stages.bar_service import APPLE, BITCOIN, FRIDAY, History, bar

GROUPS = ("market", "crypto", "doviz", "financials", "search", "portfolio", "watchlist", "terminal")
LIMITS = dict.fromkeys(GROUPS, 50)
#: A company that the upstream knows, and neither the assets nor the stocks.
UNLISTED = f"{COMPANY}/NVDA/metrics"
READS = [
    "/api/market/quotes?symbols=AAPL,MSFT,NOSUCH",
    "/api/market/quotes?symbols=all",
    "/api/market/quotes/AAPL",
    "/api/market/heatmap",
    "/api/market/movers",
    "/api/market/status",
    "/api/market/news?limit=2",
    "/api/market/assets?search=apple",
    "/api/search?q=btcusdt&limit=3",
    "/api/crypto/quotes",
    "/api/crypto/quotes/BTC-USDT",
    "/api/crypto/symbols",
    "/api/doviz/quotes",
    "/api/doviz/quotes?category=gold",
    "/api/doviz/quotes/gram-altin",
    "/api/doviz/symbols",
    APPLE,
    BITCOIN,
]
#: Headers that differ from answer to answer.
PASSING = {"x-request-id", "x-ratelimit-remaining", "x-cache"}


class World:
    """A worker that counts routed requests, with a clock that only the test moves."""

    def __init__(self) -> None:
        self.mirrors = full_mirrors()
        self.history = History(bar(FRIDAY))
        self.now = 1000.0
        self.routed = 0
        self.keys: list[str] = []
        self._window = LocalWindow(60, clock=lambda: round(self.now * SECOND))
        histories = {feed: {"test": self.history} for feed in (Feed.STOCKS, Feed.CRYPTO)}
        documents = Documents()
        documents.news.take(news_of(article(1), article(2), article(3)))
        documents.assets.take(assets_of(asset(), asset("MSFT", "Microsoft Corporation")))
        made = services(
            self.mirrors,
            documents=documents,
            history=histories,
            financials=FakeFinancials(),
            cache=MemoryCache(lambda: NOW),
            monotonic=lambda: self.now,
        )
        limited = Throttle(
            self._check,
            self._give_back,
            limits=LIMITS,
            find=made.names.find,
            identify=_everybody,
            by_address=_everybody,
        )
        app = app_of(made, throttle=limited)

        async def counted(scope: object, receive: object, send: object) -> None:
            self.routed += 1
            await app(scope, receive, send)  # type: ignore[arg-type]  # passed through

        self.repeats = Repeats(counted, throttle=limited)
        self.edge = Middleware(self.repeats, cors_origins=["*"], account_origins=[], websocket_origins=["*"])

    async def _check(self, key: str, limit: int) -> Decision:
        self.keys.append(key)
        return self._window.check(key, limit)

    async def _give_back(self, _key: str) -> None:
        raise AssertionError("no narrower window refuses reads")

    def move(self, *quotes: Quote) -> None:
        """Applies a batch to the stocks."""
        mirror = self.mirrors[Feed.STOCKS]
        changes = [encode_change(quote) for quote in quotes]
        assert mirror.apply(
            Batch(feed=Feed.STOCKS, epoch=mirror.epoch, seq=mirror.mark.seq + 1, changes=changes)
        )


def _everybody(_: object) -> str:
    return "everybody"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def client(world: World) -> AsyncIterator[httpx.AsyncClient]:
    async with client_to(world.edge) as client:
        yield client


def lasting(response: httpx.Response) -> tuple[int, bytes, dict[str, str]]:
    headers = {name: value for name, value in response.headers.items() if name not in PASSING}
    return response.status_code, response.content, headers


@pytest.mark.parametrize("path", READS)
async def test_short_way_comes_to_the_same(world: World, client: httpx.AsyncClient, path: str) -> None:
    """Status, body and headers are the same; the limiter's key is too, and the request is not routed."""
    first, second = await client.get(path), await client.get(path)
    assert first.status_code == 200
    assert lasting(second) == lasting(first)
    assert int(second.headers["x-ratelimit-remaining"]) == int(first.headers["x-ratelimit-remaining"]) - 1
    assert world.routed == 1
    assert len(set(world.keys)) == 1


@pytest.mark.parametrize("path", ["/api/market/quotes?symbols=AAPL", APPLE])
async def test_answer_changes_when_the_price_moves(
    world: World, client: httpx.AsyncClient, path: str
) -> None:
    """The service remembers the read, not the price."""
    before = [(await client.get(path)).content for _ in range(2)]
    world.move(replace(stock("AAPL", price=123.25), timestamp="2026-11-20T15:31:00Z"))
    after = await client.get(path)
    assert before[0] == before[1]
    assert b"123.25" in after.content
    assert b"123.25" not in before[0]
    assert world.routed == 1


async def test_answer_from_the_cache_is_sent_again_for_a_moment(
    world: World, client: httpx.AsyncClient
) -> None:
    """For half a second the service does not read the history again."""
    for _ in range(3):
        await client.get(APPLE)
    world.history.answer = [bar(FRIDAY, close=55.0)]
    held = (await client.get(APPLE)).content
    world.now += 0.6
    assert (await client.get(APPLE)).content == held
    assert world.routed == 1


async def test_bars_are_sent_again_until_a_missing_symbol_is_listed(
    world: World, client: httpx.AsyncClient
) -> None:
    path = "/api/market/bars?symbols=AAPL,LATE&range=5D&interval=5m"
    for _ in range(3):
        assert (await client.get(path)).headers["x-missing-symbols"] == "LATE"
    world.move(stock("LATE"))
    assert list((await client.get(path)).json()) == ["AAPL", "LATE"]


async def test_condition_and_coding_are_each_requests_own(world: World, client: httpx.AsyncClient) -> None:
    """A 304, a compressed body and a HEAD on the short way."""
    world.move(*(stock(f"T{number}") for number in range(20)))
    path = "/api/market/quotes?symbols=all"
    first = await client.get(path)
    unchanged = await client.get(path, headers={"if-none-match": first.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    packed = await client.get(path, headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == first.content
    head = await client.head(path)
    assert (head.content, head.headers["content-length"]) == (b"", first.headers["content-length"])
    assert "content-encoding" not in (await client.get(path)).headers


async def test_past_the_limit_it_is_429(client: httpx.AsyncClient) -> None:
    """The answer is that of a routed request."""
    path = "/api/crypto/quotes"
    statuses = [(await client.get(path)).status_code for _ in range(51)]
    assert statuses == [200] * 50 + [429]
    refused = await client.get(path)
    assert refused.json() == {"detail": "Too Many Requests"}
    assert refused.headers["retry-after"] == refused.headers["x-ratelimit-reset"]


async def test_route_answers_a_failure_that_counts_once(world: World, client: httpx.AsyncClient) -> None:
    """A removed symbol is 404 and counts as an unknown name, like on the routed way."""
    path = "/api/market/quotes/AAPL"
    await client.get(path)
    mirror = world.mirrors[Feed.STOCKS]
    mirror.apply(Batch(feed=Feed.STOCKS, epoch=mirror.epoch, seq=mirror.mark.seq + 1, removed=["AAPL"]))
    gone = await client.get(path)
    assert (gone.status_code, gone.json()["code"]) == (404, "symbol_not_found")
    assert world.keys == [f"everybody /api/market/quotes/{{symbol}} {name}" for name in ("AAPL", "?")]


async def test_short_way_finds_a_name_that_became_known(world: World, client: httpx.AsyncClient) -> None:
    """A company that the upstream has answered for leaves the window of unknown names."""
    answers = [await client.get(UNLISTED) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert world.routed == 1
    spelled = [key.rpartition(" ")[2] for key in world.keys]
    assert spelled == ["?", "NVDA", "NVDA"]


async def test_route_answers_the_failure_of_an_upstream(world: World, client: httpx.AsyncClient) -> None:
    """503 with Retry-After, and 200 again after the outage."""
    await client.get(APPLE)
    world.history.error = UpstreamError("away", retry_after=7)
    world.now += 10
    world.move(stock("AAPL", price=99.5))
    failed = await client.get("/api/market/bars/AAPL?range=5D")
    assert (failed.status_code, failed.headers["retry-after"]) == (503, "7")
    world.history.error = None
    assert (await client.get("/api/market/bars/AAPL?range=5D")).status_code == 200


@pytest.mark.parametrize("path", ["/api/market/quotes?symbols=", "/api/market/quotes/NOSUCH", "/api/nowhere"])
async def test_what_failed_is_not_remembered(world: World, client: httpx.AsyncClient, path: str) -> None:
    """Every request for it is routed."""
    statuses = {(await client.get(path)).status_code for _ in range(3)}
    assert len(statuses) == 1
    assert statuses <= {404, 422}
    assert world.routed == 3


async def test_too_many_urls_forget_the_oldest(
    world: World, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number and the length of remembered URLs are bounded."""
    monkeypatch.setattr("quotecast.api.limits.repeats.MAX_URLS", 3)
    for number in range(5):
        await client.get(f"/api/market/assets?limit={number + 1}")
    assert world.routed == 5
    await client.get("/api/market/assets?limit=5")
    assert world.routed == 5
    await client.get("/api/market/assets?limit=1")
    assert world.routed == 6
    long = f"/api/market/assets?search={'x' * 600}"
    await client.get(long)
    await client.get(long)
    assert world.routed == 8
    assert MAX_URLS >= 1000


@pytest.mark.parametrize(
    "query", ["symbols=AAPL&n=1", "symbols=AAPL&offset=1", "symbols=AAPL&&", "%73ymbols=AAPL"]
)
async def test_invented_queries_are_not_remembered(
    world: World, client: httpx.AsyncClient, query: str
) -> None:
    """Clients could invent any number: parameters of other routes, empty ones, other spellings."""
    for _ in range(3):
        assert (await client.get(f"/api/market/quotes?{query}")).status_code in {200, 422}
    assert world.routed == 3


async def test_reads_up_to_a_moment_are_not_remembered(world: World, client: httpx.AsyncClient) -> None:
    """A chart of TradingView names another `to` every time, and would push the others out."""
    path = "/api/udf/history?symbol=BTC-USDT&resolution=60&countback=2&to=1795188600"
    for _ in range(3):
        assert (await client.get(path)).status_code == 200
    assert world.routed == 3


async def test_answers_are_bounded_in_number(
    world: World, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that was used once makes room like any other."""
    monkeypatch.setattr(repeats, "MAX_URLS", 3)
    for month in range(1, 9):
        path = f"{BITCOIN.partition('?')[0]}?timeframe=1h&limit={month}"
        for _ in range(2):
            assert (await client.get(path)).status_code == 200
    assert len(world.repeats._answers._answers) <= 3
    assert world.routed == 8
