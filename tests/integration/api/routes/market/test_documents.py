"""News and assets over HTTP."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from quotecast.api.answers.answers import SharedBody
from quotecast.api.middleware.middleware import Middleware
from quotecast.api.routes.market import market
from quotecast.api.routes.market import news as news_route
from quotecast.feed.documents import Documents
from quotecast.market.feeds import Feed
from quotecast.market.news import NewsImage
from support.made.documents import article, asset, assets_of, news_of
from support.made.factories import client_of, client_to, edge_of, full_mirrors, services

PATHS = ["/api/market/news", "/api/market/assets"]

ARTICLES = [
    article(number, symbols=["AAPL"] if number % 2 else ["MSFT", "BRK.B"]) for number in range(60, 0, -1)
]
ASSETS = [
    asset("A", "Agilent Technologies, Inc."),
    asset("AAPL", "Apple Inc."),
    asset("APLE", "Apple Hospitality REIT, Inc."),
    asset("MSFT", "Microsoft Corporation"),
]


def full_documents() -> Documents:
    documents = Documents()
    documents.news.take(news_of(*ARTICLES))
    documents.assets.take(assets_of(*ASSETS))
    return documents


@pytest.fixture(scope="module")
def full() -> Middleware:
    return edge_of(services(full_mirrors(), documents=full_documents()))


@pytest_asyncio.fixture
async def client(full: Middleware) -> AsyncIterator[httpx.AsyncClient]:
    async with client_to(full) as client:
        yield client


def ids(answer: httpx.Response) -> list[int]:
    assert answer.status_code == 200
    return [int(each["id"]) for each in answer.json()]


def tickers(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200
    return [each["ticker"] for each in answer.json()]


async def test_an_article_has_the_specified_fields() -> None:
    """An article has the specified fields."""
    documents = Documents()
    pictured = article(
        1, url="https://example.com/1", images=[NewsImage("thumb", "https://example.com/1.png")]
    )
    documents.news.take(news_of(pictured))
    async with client_of(services(full_mirrors(), documents=documents)) as client:
        answer = await client.get("/api/market/news")
    assert answer.json() == [
        {
            "id": "1",
            "headline": "Headline 1",
            "summary": "",
            "author": "A. Writer",
            "source": "Test",
            "url": "https://example.com/1",
            "images": [{"size": "thumb", "url": "https://example.com/1.png"}],
            "symbols": ["AAPL"],
            "created_at": "2026-11-20T15:00:00.000Z",
            "updated_at": "2026-11-20T15:00:00.000Z",
        }
    ]


async def test_the_newest_30_articles_are_answered(client: httpx.AsyncClient) -> None:
    """The default is 30 articles, which caches store for half a minute."""
    answer = await client.get("/api/market/news")
    assert ids(answer) == [*range(60, 30, -1)]
    assert answer.headers["cache-control"].startswith("public, max-age=30,")


@pytest.mark.parametrize("limit", [1, 50])
async def test_another_number_of_articles_can_be_asked_for(client: httpx.AsyncClient, limit: int) -> None:
    assert ids(await client.get(f"/api/market/news?limit={limit}")) == [*range(60, 60 - limit, -1)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("symbols=aapl", [*range(59, 0, -2)]),
        ("symbols=%20brk.b,MSFT&limit=2", [60, 58]),
        ("symbols=AAPL,MSFT&limit=3", [60, 59, 58]),
        ("symbols=all&limit=3", [60, 59, 58]),
        ("symbols=NOPE", []),
    ],
)
async def test_articles_about_some_symbols(
    client: httpx.AsyncClient, query: str, expected: list[int]
) -> None:
    """`symbols` selects the newest articles about any of them."""
    assert ids(await client.get(f"/api/market/news?{query}")) == expected


async def test_an_asset_has_the_specified_fields(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/market/assets?search=aapl")
    assert answer.json() == [
        {
            "ticker": "AAPL",
            "name": "Apple Inc.",
            "exchange": "NASDAQ",
            "assetClass": "us_equity",
            "sector": "Technology",
            "industry": "Phones",
            "tradable": True,
        }
    ]


@pytest.mark.parametrize(
    ("query", "expected", "total"),
    [
        ("", ["A", "AAPL", "APLE", "MSFT"], 4),
        ("?search=%20%20", ["A", "AAPL", "APLE", "MSFT"], 4),
        ("?search=ap", ["APLE", "AAPL"], 2),
        ("?search=APPLE&limit=1", ["AAPL"], 2),
        ("?search=APPLE&limit=1&offset=1", ["APLE"], 2),
        ("?limit=2", ["A", "AAPL"], 4),
        ("?offset=3", ["MSFT"], 4),
        ("?offset=99", [], 4),
        ("?search=%F0%9F%9A%80%00%FF", [], 0),
    ],
)
async def test_assets_are_searched_and_paged(
    client: httpx.AsyncClient, query: str, expected: list[str], total: int
) -> None:
    """`X-Total-Count` counts the matches of all pages."""
    answer = await client.get(f"/api/market/assets{query}")
    assert tickers(answer) == expected
    assert answer.headers["x-total-count"] == str(total)
    assert answer.headers["cache-control"].startswith("public, max-age=3600,")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("news?limit=0", "limit"),
        ("news?limit=51", "limit"),
        ("news?limit=many", "limit"),
        ("news?limit=99999999999999999999", "limit"),
        ("news?symbols=", "symbols"),
        ("news?symbols=" + ",".join(f"A{n}" for n in range(501)), "symbols"),
        ("assets?limit=0", "limit"),
        ("assets?limit=null", "limit"),
        ("assets?limit=10001", "limit"),
        ("assets?limit=", "limit"),
        ("assets?offset=-1", "offset"),
        ("assets?search=" + "x" * 101, "search"),
    ],
)
async def test_values_out_of_bounds_are_refused(client: httpx.AsyncClient, query: str, field: str) -> None:
    """A value out of bounds is 422 that names it."""
    answer = await client.get(f"/api/market/{query}")
    assert answer.status_code == 422
    assert [each["field"] for each in answer.json()["errors"]] == [field]


async def test_an_offset_beyond_all_bounds_finds_nothing(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/market/assets?offset=99999999999999999999999")
    assert tickers(answer) == []


@pytest.mark.parametrize("path", [*PATHS, "/api/market/news?symbols=AAPL", "/api/market/assets?limit=2"])
async def test_what_the_client_has_is_not_sent_again(client: httpx.AsyncClient, path: str) -> None:
    """A client with the current tag gets 304, with the count."""
    whole = await client.get(path)
    again = await client.get(path, headers={"if-none-match": whole.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers.get("x-total-count") == whole.headers.get("x-total-count")


@pytest.mark.parametrize("path", PATHS)
async def test_a_change_is_sent_again(path: str) -> None:
    documents = full_documents()
    async with client_of(services(full_mirrors(), documents=documents)) as client:
        before = await client.get(path)
        documents.news.take(news_of(article(99)))
        documents.assets.take(assets_of(asset("NEW")))
        after = await client.get(path, headers={"if-none-match": before.headers["etag"]})
    assert after.status_code == 200
    assert len(after.json()) == 1


def _shared_document(path: str, documents: Documents) -> SharedBody:
    if path.endswith("news"):
        return documents.news.derive(news_route.newest_articles, 30)
    return documents.assets.derive(market.all_assets)


@pytest.mark.parametrize("path", PATHS)
async def test_large_lists_are_compressed_once(path: str) -> None:
    """A large list is compressed once for all clients."""
    documents = Documents()
    documents.news.take(news_of(*ARTICLES))
    documents.assets.take(assets_of(*(asset(f"S{number}") for number in range(50))))
    async with client_of(services(full_mirrors(), documents=documents)) as client:
        packed = await client.get(path, headers={"accept-encoding": "gzip"})
        plain = await client.get(path)
    shared = _shared_document(path, documents)
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) == len(shared.gzipped) < len(plain.content)
    assert packed.content == plain.content == shared.body


@pytest.mark.parametrize("path", PATHS)
async def test_before_the_first_document_there_is_no_data(path: str) -> None:
    """Before the first document the answer is 503: an empty list would look like no news."""
    async with client_of(services(full_mirrors())) as client:
        answer = await client.get(path)
    name = path.rpartition("/")[2]
    assert (answer.status_code, answer.json()["code"]) == (503, "no_data")
    assert answer.json()["detail"] == f"No data yet for {name}"
    assert answer.headers["retry-after"] == "1"


async def test_an_empty_document_is_data() -> None:
    """An empty document is an empty list."""
    documents = Documents()
    documents.news.take(news_of())
    async with client_of(services(full_mirrors(), documents=documents)) as client:
        answer = await client.get("/api/market/news")
    assert (answer.status_code, answer.json()) == (200, [])


@pytest.mark.parametrize("path", PATHS)
async def test_without_provider_it_is_unavailable(path: str) -> None:
    """Without a provider of stocks, news and assets are 503, even with an old document."""
    given = services(full_mirrors(), documents=full_documents(), providers=dict.fromkeys(Feed, "none"))
    async with client_of(given) as client:
        answer = await client.get(path)
    name = path.rpartition("/")[2]
    assert (answer.status_code, answer.json()["code"]) == (503, "no_provider")
    assert answer.json()["detail"] == f"No provider configured for {name}"
