"""The search over all feeds, over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from datetime import date

import httpx
import pytest

from quotecast.api.market.searching import PIECE, REFRESH_SECONDS, Searches
from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote, StockQuote
from quotecast.market.renames import Rename
from quotecast.market.search import search
from support.made.documents import asset, assets_of
from support.made.factories import MONOTONIC, client_of, empty_mirrors, mirror_of, services
from support.made.market import stock
from support.made.search import assets, doviz_quotes, pair_quotes, stock_quotes


def reference_mirrors() -> dict[Feed, Mirror]:
    return {
        Feed.STOCKS: mirror_of(Feed.STOCKS, stock_quotes().values()),
        Feed.CRYPTO: mirror_of(Feed.CRYPTO, pair_quotes().values()),
        Feed.DOVIZ: mirror_of(Feed.DOVIZ, doviz_quotes().values()),
    }


def reference_documents() -> Documents:
    documents = Documents()
    documents.assets.take(assets_of(*assets()))
    return documents


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(services(reference_mirrors(), documents=reference_documents())) as client:
        yield client


def tickers(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["ticker"] for each in answer.json()]


async def test_results_have_the_specified_fields(client: httpx.AsyncClient) -> None:
    """All feeds have the same fields; those without a meaning are null."""
    found = [
        (await client.get("/api/search", params={"q": text, "limit": 1})).json()[0]
        for text in ("apple", "btcusdt", "is bankasi")
    ]
    assert found == [
        {
            "type": "stock",
            "ticker": "AAPL",
            "name": "Apple Inc.",
            "currency": "USD",
            "exchange": "NASDAQ",
            "source": None,
        },
        {
            "type": "crypto",
            "ticker": "BTC/USDT",
            "name": "Bitcoin",
            "exchange": "Test",
            "source": None,
            "currency": "USDT",
        },
        {
            "type": "doviz",
            "ticker": "isbank-gram-altin",
            "name": "Gram Altın",
            "exchange": None,
            "source": "İş Bankası",
            "currency": "TRY",
        },
    ]


@pytest.mark.parametrize("text", ["altin", "gold", "ALTIN", "alt%C4%B1n", "%20gold%20"])
async def test_gold_is_found_in_either_language(client: httpx.AsyncClient, text: str) -> None:
    assert tickers(await client.get(f"/api/search?q={text}"))[0] == "gram-altin"


async def test_ten_results_unless_a_limit_is_given(client: httpx.AsyncClient) -> None:
    assert len(tickers(await client.get("/api/search?q=a"))) == 10
    assert len(tickers(await client.get("/api/search?q=a&limit=1"))) == 1
    assert len(tickers(await client.get("/api/search?q=a&limit=50"))) == 50


async def test_no_match_is_an_empty_list(client: httpx.AsyncClient) -> None:
    for text in ("zzzz", "%F0%9F%9A%80", "%00%FF", "..."):
        assert tickers(await client.get(f"/api/search?q={text}")) == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "q"),
        ("q=", "q"),
        ("q=%20%09", "q"),
        ("q=" + "x" * 65, "q"),
        ("q=a&limit=0", "limit"),
        ("q=a&limit=51", "limit"),
        ("q=a&limit=", "limit"),
        ("q=a&limit=ten", "limit"),
    ],
)
async def test_values_out_of_bounds_are_refused(client: httpx.AsyncClient, query: str, field: str) -> None:
    """A value out of bounds is 422 that names it."""
    answer = await client.get(f"/api/search?{query}")
    assert answer.status_code == 422
    assert [each["field"] for each in answer.json()["errors"]] == [field]


async def test_longest_text_is_searched(client: httpx.AsyncClient) -> None:
    assert tickers(await client.get("/api/search?q=" + "x" * 64)) == []


async def test_what_the_client_has_is_not_sent_again(client: httpx.AsyncClient) -> None:
    """Pages of any origin may read it, and caches keep it for a minute."""
    whole = await client.get("/api/search?q=gold", headers={"origin": "https://example.com"})
    again = await client.get("/api/search?q=gold", headers={"if-none-match": whole.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert whole.headers["cache-control"].startswith("public, max-age=60,")
    assert whole.headers["access-control-allow-origin"] == "*"
    assert whole.headers["x-feed-state"] == "live"


@pytest.mark.parametrize(
    ("missing", "text", "found"),
    [
        (Feed.STOCKS, "altin", "gram-altin"),
        (Feed.CRYPTO, "apple", "AAPL"),
        (Feed.DOVIZ, "btcusdt", "BTC/USDT"),
    ],
)
async def test_a_feed_without_data_is_left_out(missing: Feed, text: str, found: str) -> None:
    """The others are searched, and the answer is not called live."""
    mirrors = reference_mirrors() | {missing: Mirror(missing)}
    async with client_of(services(mirrors)) as client:
        answer = await client.get(f"/api/search?q={text}")
    assert tickers(answer)[0] == found
    assert answer.headers["x-feed-state"] == "stale"
    assert answer.headers["cache-control"].startswith("public, max-age=1,")


async def test_assets_are_found_before_the_first_quote() -> None:
    async with client_of(services(empty_mirrors(), documents=reference_documents())) as client:
        assert tickers(await client.get("/api/search?q=apple"))[0] == "AAPL"


async def test_without_any_data_it_is_unavailable() -> None:
    """An empty list would look like no match."""
    async with client_of(services(empty_mirrors())) as client:
        answer = await client.get("/api/search?q=gold")
    assert (answer.status_code, answer.json()["code"]) == (503, "no_data")
    assert answer.headers["retry-after"] == "1"


async def test_a_feed_that_is_switched_off_is_not_searched() -> None:
    providers = {**dict.fromkeys(Feed, "simulator"), Feed.DOVIZ: "none"}
    async with client_of(services(reference_mirrors(), providers=providers)) as client:
        assert "gram-altin" not in tickers(await client.get("/api/search?q=gold"))
    async with client_of(services(reference_mirrors(), providers=dict.fromkeys(Feed, "none"))) as client:
        answer = await client.get("/api/search?q=gold")
    assert (answer.status_code, answer.json()["code"]) == (503, "no_provider")


def change(mirror: Mirror, *quotes: Quote, removed: tuple[str, ...] = ()) -> None:
    changes = [encode_change(quote, full=True) for quote in quotes]
    batch = Batch(
        feed=mirror.feed, epoch=mirror.epoch, seq=mirror.mark.seq + 1, changes=changes, removed=[*removed]
    )
    assert mirror.apply(batch)


async def test_new_names_are_found_at_once() -> None:
    """A new quote, another name, a removed quote, new assets."""
    mirrors, documents = reference_mirrors(), reference_documents()
    async with client_of(services(mirrors, documents=documents)) as client:
        assert tickers(await client.get("/api/search?q=quotecast")) == []
        change(mirrors[Feed.STOCKS], stock("QCST", name="Quotecast Inc."))
        assert tickers(await client.get("/api/search?q=quotecast")) == ["QCST"]
        change(mirrors[Feed.STOCKS], stock("QCST", name="Renamed Inc."))
        assert tickers(await client.get("/api/search?q=quotecast")) == []
        assert tickers(await client.get("/api/search?q=renamed")) == ["QCST"]
        change(mirrors[Feed.STOCKS], removed=("QCST",))
        assert tickers(await client.get("/api/search?q=renamed")) == []
        documents.assets.take(assets_of(asset("NEWS", "Quotecast News")))
        assert tickers(await client.get("/api/search?q=quotecast")) == ["NEWS"]


async def test_a_rename_is_found_by_at_once() -> None:
    mirrors = reference_mirrors()
    async with client_of(services(mirrors, documents=reference_documents())) as client:
        query = "/api/search?q=OLDNAME"
        assert tickers(await client.get(query)) == []
        mirrors[Feed.STOCKS].follow_renames([Rename(former="OLDNAME", symbol="AAPL", day=date(2026, 11, 20))])
        assert tickers(await client.get(query)) == ["AAPL"]


async def found_by(searches: Searches, text: str, now: float) -> list[str]:
    return [each.ticker for each in search(await searches.indexes(Feed, now), text, 10)]


async def test_prices_change_without_a_new_index() -> None:
    """Neither do other fields that no search shows; turnover is read again after a quarter of an hour."""
    mirror = mirror_of(Feed.STOCKS, [stock("TINA", 1.0, "Tin"), stock("TINB", 2.0, "Tin")])
    searches = Searches(empty_mirrors() | {Feed.STOCKS: mirror}, Documents())
    assert await found_by(searches, "tin", MONOTONIC) == ["TINB", "TINA"]
    before = await searches.indexes(Feed, MONOTONIC)
    change(mirror, StockQuote(ticker="TINA", name="Tin", price=9.0, previous_close=8.0, volume="1000"))
    assert await searches.indexes(Feed, MONOTONIC + REFRESH_SECONDS) == before
    assert await found_by(searches, "tin", MONOTONIC + REFRESH_SECONDS + 1) == ["TINA", "TINB"]


async def test_event_loop_serves_others_while_it_builds() -> None:
    """The index is built in small pieces, once for all searches that wait for it."""
    many = [asset(f"T{number}", f"Company {number}") for number in range(30 * PIECE)]
    documents = Documents()
    documents.assets.take(assets_of(*many))
    searches, turns = Searches(empty_mirrors(), documents), 0
    waiting = [asyncio.create_task(searches.indexes(Feed, MONOTONIC)) for _ in range(5)]
    while not all(task.done() for task in waiting):
        turns += 1
        await asyncio.sleep(0)
    assert turns > 2 * 30
    assert len({id(index) for task in waiting for index in task.result()}) == 1
