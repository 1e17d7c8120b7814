"""Former symbols over HTTP: they mean the present ones, and the answer says so."""

import httpx
import pytest
from msgspec.structs import replace

from fakes.financials import FakeFinancials
from quotecast.bus.base import FeedInfo
from quotecast.feed.documents import Documents
from quotecast.market.feeds import Feed
from quotecast.market.financials import Metrics
from support.made.documents import article, news_of
from support.made.factories import client_of, full_mirrors, mirror_of, services
from support.made.market import pair, stock
from support.stages.bar_service import FRIDAY, BarService, new_service, write_closes

NOTE = "x-renamed-symbols"


@pytest.fixture
def service() -> BarService:
    """Has META and POL/USDT, and SQ, which is another company's symbol now."""
    service = new_service()
    service.info = FeedInfo(provider="test", simulated=True)
    at = FRIDAY.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    listed = [stock(each) for each in ("META", "SQ", "XYZ")]
    service.quotes(Feed.STOCKS, [replace(each, timestamp=at) for each in listed])
    service.quotes(Feed.CRYPTO, [replace(pair("POL/USDT", 0.5), timestamp=at)])
    write_closes(service.stored, Feed.CRYPTO, "POL/USDT", {"2026-11-19": 0.4})
    return service


async def answered(service: BarService, path: str) -> httpx.Response:
    response = await service.get(path)
    assert response.status_code == 200, response.text
    return response


@pytest.mark.parametrize(
    ("path", "note"),
    [
        ("quotes/fb", "FB=META"),
        ("quotes?symbols=FB,SQ,META", "FB=META"),
        ("bars?symbols=fb,FB,XYZ", "FB=META"),
        ("sparklines?symbols=FB", "FB=META"),
        ("/api/crypto/quotes/matic-usdt", "MATIC-USDT=POL/USDT"),
        ("/api/crypto/bars?symbols=MATIC/USDT", "MATIC/USDT=POL/USDT"),
        ("/api/prices?symbols=FB,POL/USDT", "FB=META"),
        ("/api/prices/FB", "FB=META"),
        ("/api/prices/MATIC-USDT/history?start=2026-11-19", "MATIC-USDT=POL/USDT"),
        ("/api/openbb/market/grid?symbol=FB", "FB=META"),
    ],
)
async def test_a_former_symbol_means_the_present_one(service: BarService, path: str, note: str) -> None:
    """Also the second time, from memory."""
    for _ in range(2):
        answer = await answered(service, path if path.startswith("/") else f"/api/market/{path}")
        assert answer.headers[NOTE] == note
        assert f'"{note.partition("=")[2]}"' in answer.text
        assert answer.headers.get("x-missing-count", "0") == "0"


@pytest.mark.parametrize("path", ["/api/market/bars/{}?range=1D", "/api/crypto/bars/{}?timeframe=1h"])
async def test_bars_are_those_of_the_present_symbol(service: BarService, path: str) -> None:
    former, present = ("MATIC-USDT", "POL-USDT") if "crypto" in path else ("fb", "META")
    answer = await answered(service, path.format(former))
    assert NOTE in answer.headers
    assert answer.json() == (await answered(service, path.format(present))).json() != []


async def test_a_page_after_a_former_symbol_begins_where_that_was(service: BarService) -> None:
    page = (await answered(service, "/api/market/quotes?symbols=all&limit=1&after=FB")).json()
    assert [*page] == ["META"]


@pytest.mark.parametrize(
    "path", ["/api/market/quotes/sq", "/api/market/quotes?symbols=SQ,XYZ,sq", "/api/prices?symbols=pol-usdt"]
)
async def test_a_symbol_of_a_present_instrument_is_its_own(service: BarService, path: str) -> None:
    assert NOTE not in (await answered(service, path)).headers


async def test_two_names_of_one_stock_have_one_quote(service: BarService) -> None:
    body = (await answered(service, "/api/market/quotes?symbols=FB,META")).text
    assert body.count('"META":') == 1


async def test_a_former_symbol_of_nothing_is_unknown(service: BarService) -> None:
    assert (await service.get("/api/market/quotes/PCLN")).status_code == 404


async def test_company_data_and_news_are_those_of_the_present_symbol() -> None:
    """Articles have the symbols of their day: those of both are listed."""
    asked: list[str] = []

    class Financials(FakeFinancials):
        async def metrics(self, symbol: str) -> Metrics:
            asked.append(symbol)
            return await super().metrics(symbol)

    documents = Documents()
    documents.news.take(news_of(article(2, symbols=["META"]), article(1, symbols=["FB"])))
    mirrors = {**full_mirrors(), Feed.STOCKS: mirror_of(Feed.STOCKS, [stock("META")])}
    async with client_of(services(mirrors, financials=Financials(), documents=documents)) as client:
        answer = await client.get("/api/financials/company/fb/metrics")
        assert (answer.status_code, answer.headers[NOTE], asked) == (200, "FB=META", ["META"])
        assert len((await client.get("/api/market/news?symbols=FB")).json()) == 2
