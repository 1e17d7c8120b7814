"""Pages of quotes in the order of symbols: `limit`, `after` and `X-Next-After`."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from quotecast.api.middleware.middleware import Middleware
from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.market.feeds import Feed
from support.made.factories import EPOCH, client_of, client_to, edge_of, full_mirrors, services, snapshot_of
from support.made.market import stock

FEEDS = ["/api/market/quotes?symbols=all", "/api/crypto/quotes?", "/api/doviz/quotes?"]
TICKERS = [f"S{number:02}" for number in range(10)]


@pytest.fixture(scope="module")
def full() -> Middleware:
    return edge_of(services(full_mirrors()))


@pytest_asyncio.fixture
async def client(full: Middleware) -> AsyncIterator[httpx.AsyncClient]:
    async with client_to(full) as client:
        yield client


async def read_pages(client: httpx.AsyncClient, path: str) -> list[dict[str, object]]:
    """Returns all pages, following the header."""
    pages, after = [], ""
    while True:
        answer = await client.get(f"{path}&after={after.replace('/', '%2F')}")
        assert answer.status_code == 200
        pages.append(answer.json())
        if "x-next-after" not in answer.headers:
            return pages
        after = answer.headers["x-next-after"]


@pytest.mark.parametrize("path", FEEDS)
@pytest.mark.parametrize("limit", [1, 2, 1000])
async def test_pages_together_are_all_quotes(client: httpx.AsyncClient, path: str, limit: int) -> None:
    """Each page has `limit` quotes but the last one; together they are the answer without pages, in order."""
    everything = (await client.get(path)).json()
    pages = await read_pages(client, f"{path}&limit={limit}")
    assert [key for page in pages for key in page] == [*everything]
    assert {key: quote for page in pages for key, quote in page.items()} == everything
    assert all(len(page) == limit for page in pages[:-1])
    assert 0 < len(pages[-1]) <= limit


async def test_stocks_need_no_list_for_a_page(client: httpx.AsyncClient) -> None:
    """Without `symbols` a page is of all stocks; without both the list is missing, as it always was."""
    page = await client.get("/api/market/quotes?limit=1")
    assert [*page.json()] == ["AAPL"]
    missing = await client.get("/api/market/quotes")
    assert missing.status_code == 422
    assert missing.json()["errors"] == [{"field": "symbols", "message": "Must be given"}]


async def test_category_and_table_go_with_pages(client: httpx.AsyncClient) -> None:
    """A page of a category has its quotes only; `format=csv` makes a table of the page."""
    page = await client.get("/api/doviz/quotes?category=gold&limit=1")
    assert [quote["category"] for quote in page.json().values()] == ["gold"]
    table = await client.get("/api/market/quotes?limit=1&format=csv")
    assert len(table.text.splitlines()) == 2
    assert table.headers["x-next-after"] == "AAPL"


@pytest.mark.parametrize("after", ["btc-usdt", "BTC/USDT", "BTC%2FUSDT"])
async def test_symbol_may_have_any_spelling(client: httpx.AsyncClient, after: str) -> None:
    """A page begins after the symbol that the text means."""
    assert "BTC/USDT" not in (await client.get(f"/api/crypto/quotes?after={after}")).json()


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=many", "limit"),
        ("limit=", "limit"),
        ("limit=-1", "limit"),
        (f"after={'A' * 41}", "after"),
        ("symbols=AAPL,MSFT&limit=1", "symbols"),
        ("symbols=&limit=1", "symbols"),
    ],
)
async def test_wrong_values_name_their_parameter(client: httpx.AsyncClient, query: str, field: str) -> None:
    answer = await client.get(f"/api/market/quotes?{query}")
    assert answer.status_code == 422
    assert [each["field"] for each in answer.json()["errors"]] == [field]


async def test_symbol_that_is_gone_continues_the_list() -> None:
    """A symbol may leave between two pages: the next page begins where it stood."""
    mirrors = full_mirrors()
    mirrors[Feed.STOCKS].load(snapshot_of(Feed.STOCKS, [stock(ticker) for ticker in TICKERS], seq=8))
    async with client_of(services(mirrors)) as client:
        first = await client.get("/api/market/quotes?limit=4")
        left = [stock(ticker) for ticker in TICKERS if ticker != first.headers["x-next-after"]]
        mirrors[Feed.STOCKS].load(snapshot_of(Feed.STOCKS, left, seq=9))
        second = await client.get(f"/api/market/quotes?limit=4&after={first.headers['x-next-after']}")
    assert [*second.json()] == TICKERS[4:8]


async def test_page_keeps_its_tag_while_others_change() -> None:
    """A change on another page leaves the tag; one on the page changes it, a first symbol behind it too."""
    mirrors = full_mirrors()
    stocks = mirrors[Feed.STOCKS]
    stocks.load(snapshot_of(Feed.STOCKS, [stock(ticker) for ticker in TICKERS], seq=8))
    first, last = "/api/market/quotes?limit=5", "/api/market/quotes?limit=5&after=S04"
    async with client_of(services(mirrors)) as client:
        tags = {path: (await client.get(path)).headers["etag"] for path in (first, last)}

        async def status(path: str) -> int:
            return (await client.get(path, headers={"if-none-match": tags[path]})).status_code

        stocks.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=9, changes=[encode_change(stock("S07", 5.0))]))
        assert (await status(first), await status(last)) == (304, 200)
        more = [stock(ticker) for ticker in (*TICKERS, "S10")]
        tags[last] = (await client.get(last)).headers["etag"]
        stocks.load(snapshot_of(Feed.STOCKS, [*more[:7], stock("S07", 5.0), *more[8:]], seq=10))
        assert (await status(first), await status(last)) == (304, 200)
