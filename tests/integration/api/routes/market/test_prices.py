"""Prices of any instrument on any day in any currency, over HTTP."""

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import httpx
import pytest
import pytest_asyncio
from msgspec.structs import replace

from quotecast.access.plans import Reach
from quotecast.api.market.services import Services
from quotecast.bus.base import Batch, FeedInfo
from quotecast.bus.wire import encode_change
from quotecast.errors import UpstreamError
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.quotes import DovizQuote
from support.made.factories import EPOCH, MONOTONIC, client_of, doviz, mirror_of, services
from support.made.market import pair, state_of, stock
from support.stages.bar_service import FRIDAY, History, Stored, bar, write_closes

PRICES = "/api/prices"


def lira(code: str, price: float) -> DovizQuote:
    return replace(doviz(code, "currency"), unit=f"1 {code}", price=price)


def gold(symbol: str, price: float, **other: Any) -> DovizQuote:
    return replace(doviz(symbol, "gold"), price=price, **other)


def market() -> dict[Feed, Mirror]:
    return {
        Feed.STOCKS: mirror_of(Feed.STOCKS, [stock("AAPL", 300.0), stock("MSFT", 500.0)]),
        Feed.CRYPTO: mirror_of(Feed.CRYPTO, [pair("BTC/USDT", 90_000.0), pair("USDT/TRY", 44.0)]),
        Feed.DOVIZ: mirror_of(
            Feed.DOVIZ,
            [
                lira("USD", 40.0),
                lira("EUR", 50.0),
                gold("gram-altin", 4_000.0),
                gold("ons", 3_110.34768, unit="ons", currency="USD"),
                gold("gram-platin", 2_000.0),
            ],
        ),
    }


@pytest.fixture
def stored() -> Stored:
    return Stored()


@pytest.fixture
def history() -> History:
    return History()


@pytest.fixture
def parts(stored: Stored, history: History) -> Services:
    return services(
        market(),
        stored_bars=stored,
        history={Feed.STOCKS: {"test": history}},
    )


@pytest_asyncio.fixture
async def client(parts: Services) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(parts) as client:
        yield client


async def answer(client: httpx.AsyncClient, path: str) -> Any:
    response = await client.get(path)
    assert response.status_code == 200, response.text
    return response.json()


async def refusal(client: httpx.AsyncClient, path: str) -> tuple[str, str]:
    response = await client.get(path)
    assert response.status_code == 422, response.text
    (problem,) = response.json()["errors"]
    return problem["field"], problem["message"]


async def test_a_price_names_its_currency_time_and_source(client: httpx.AsyncClient) -> None:
    assert await answer(client, f"{PRICES}/aapl") == {
        "symbol": "AAPL",
        "type": "stock",
        "name": "AAPL Inc.",
        "unit": "share",
        "price": 300.0,
        "currency": "USD",
        "date": "2026-11-20",
        "dateAsked": None,
        "timestamp": "2026-11-20T15:00:00.000Z",
        "status": "live",
        "delaySeconds": 0.0,
        "quotedPrice": 300.0,
        "quotedCurrency": "USD",
        "rates": [],
        "provider": "test",
        "show": None,
        "attribution": None,
        "terms": None,
        "adjusted": "splits",
        "problem": None,
    }


async def test_instruments_of_all_feeds_have_prices_in_one_currency(client: httpx.AsyncClient) -> None:
    """A stock by way of lira, a pair by way of its own rate to lira, and gold by the inverse of euros."""
    response = await client.get(f"{PRICES}?symbols=AAPL,btc-usdt,gram-altin,NOPE&currency=eur")
    found = response.json()
    assert [*found] == ["AAPL", "BTC/USDT", "gram-altin"]
    assert [each["price"] for each in found.values()] == [240.0, 79_200.0, 80.0]
    assert {each["currency"] for each in found.values()} == {"EUR"}
    path = [(each["from"], each["to"], each["symbol"]) for each in found["BTC/USDT"]["rates"]]
    assert path == [("USDT", "TRY", "USDT/TRY"), ("TRY", "EUR", "EUR")]
    assert response.headers["x-missing-symbols"] == "NOPE"


async def test_of_two_feeds_the_type_chooses(parts: Services) -> None:
    """`USD` is the ticker of a fund, too."""
    parts.mirrors[Feed.STOCKS].load(state_of([stock("USD", 90.0)], seq=9))
    async with client_of(parts) as client:
        assert (await answer(client, f"{PRICES}/USD"))["type"] == "stock"
        assert (await answer(client, f"{PRICES}/USD?type=doviz"))["price"] == 40.0


@pytest.mark.parametrize(
    ("query", "price", "unit"),
    [
        ("", 3_110.34768, "ounce"),
        ("?unit=gram", 100.0, "gram"),
        ("?unit=gram&fineness=916", 91.6, "gram, 916 fine"),
        ("?unit=kilogram&fineness=22k", 91_666.6666667, "kilogram, 22k"),
        ("?unit=gram&fineness=750&currency=EUR", 60.0, "gram, 750 fine"),
    ],
)
async def test_a_metal_has_a_price_by_weight_and_fineness(
    client: httpx.AsyncClient, query: str, price: float, unit: str
) -> None:
    found = await answer(client, f"{PRICES}/XAU{query}")
    assert (found["symbol"], found["price"], found["unit"]) == ("XAU", price, unit)


async def test_a_metal_without_an_ounce_quote_has_that_of_its_gram(client: httpx.AsyncClient) -> None:
    found = await answer(client, f"{PRICES}/xpt")
    assert (found["quotedCurrency"], found["price"]) == ("TRY", 62_206.9536)
    assert (await answer(client, "/api/rates?from=XPT&to=TRY"))["rate"] == 62_206.9536


async def test_gold_is_a_currency_too(client: httpx.AsyncClient) -> None:
    found = await answer(client, f"{PRICES}/AAPL?currency=XAU")
    assert found["price"] == pytest.approx(300 / 3_110.34768, rel=1e-11)


async def test_a_price_of_a_day_is_its_close_at_the_rates_of_that_day(
    client: httpx.AsyncClient, stored: Stored, history: History
) -> None:
    """No rate of today touches a price of the past."""
    history.answer = [bar(FRIDAY.replace(day=18, hour=5, minute=0), 200.0)]
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-11-18": 30.0})
    write_closes(stored, Feed.DOVIZ, "EUR", {"2026-11-18": 40.0})
    found = await answer(client, f"{PRICES}/AAPL?currency=EUR&date=2026-11-18")
    assert (found["price"], found["quotedPrice"], found["status"]) == (150.0, 200.0, "close")
    assert (found["date"], found["dateAsked"], found["timestamp"]) == ("2026-11-18", "2026-11-18", None)
    assert [(each["rate"], each["date"]) for each in found["rates"]] == [
        (30.0, "2026-11-18"),
        (0.025, "2026-11-18"),
    ]


async def test_a_day_without_trades_names_the_session_before_it(
    client: httpx.AsyncClient, stored: Stored
) -> None:
    """A Sunday has the close of Friday, and says so; so does each rate."""
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-13": 200.0})
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-11-12": 30.0, "2026-11-14": 99.0})
    found = await answer(client, f"{PRICES}/AAPL?currency=TRY&date=2026-11-15")
    assert (found["price"], found["date"], found["dateAsked"]) == (6000.0, "2026-11-13", "2026-11-15")
    assert found["rates"][0]["date"] == "2026-11-12"


async def test_the_price_of_today_is_the_current_one(client: httpx.AsyncClient) -> None:
    found = await answer(client, f"{PRICES}/AAPL?date=2026-11-20")
    assert (found["price"], found["status"], found["date"]) == (300.0, "live", "2026-11-20")


async def test_a_day_before_the_history_is_refused_with_its_first_day(
    client: httpx.AsyncClient, stored: Stored
) -> None:
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-13": 200.0})
    assert await refusal(client, f"{PRICES}/AAPL?date=2026-01-05") == (
        "date",
        "There is no close of AAPL in the 10 days up to 2026-01-05; closes begin on 2026-11-13",
    )


async def test_one_price_that_is_not_known_takes_no_other_with_it(
    client: httpx.AsyncClient, stored: Stored
) -> None:
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-13": 200.0})
    found = await answer(client, f"{PRICES}?symbols=AAPL,MSFT&date=2026-11-13")
    assert (found["AAPL"]["price"], found["AAPL"]["problem"]) == (200.0, None)
    assert (found["MSFT"]["price"], found["MSFT"]["date"]) == (None, None)
    assert found["MSFT"]["problem"] == (
        "There is no close of MSFT in the 10 days up to 2026-11-13; closes begin on 2026-11-20"
    )


async def test_a_rate_that_is_not_known_is_said(client: httpx.AsyncClient, stored: Stored) -> None:
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-13": 200.0})
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-11-19": 30.0})
    found = await answer(client, f"{PRICES}?symbols=AAPL,USD&currency=TRY&date=2026-11-19")
    assert found["AAPL"]["problem"] == "There is no rate from USD to TRY on 2026-11-13"
    assert await refusal(client, f"{PRICES}/AAPL?currency=JPY") == (
        "currency",
        "There is no rate from USD to JPY",
    )


async def test_an_upstream_that_fails_is_a_503(
    client: httpx.AsyncClient, history: History, stored: Stored
) -> None:
    """Own closes replace those of an upstream that fails; without them the answer is an error."""
    history.error = UpstreamError("the key of the upstream was refused")
    response = await client.get(f"{PRICES}/AAPL?date=2026-11-13")
    assert (response.status_code, response.json()["detail"]) == (503, "Upstream unavailable")
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-11-13": 30.0})
    found = await answer(client, f"{PRICES}?symbols=AAPL,USD&date=2026-11-13")
    assert (found["AAPL"]["problem"], found["USD"]["price"]) == ("Upstream unavailable", 30.0)
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-13": 200.0})
    assert (await answer(client, f"{PRICES}/AAPL?date=2026-11-13"))["price"] == 200.0


async def test_a_history_has_each_day_at_its_own_rate(client: httpx.AsyncClient, stored: Stored) -> None:
    """A day without a rate of its own has the last one before; without any its price is null."""
    closes = {"2026-11-02": 100.0, "2026-11-17": 200.0, "2026-11-18": 210.0, "2026-11-19": 220.0}
    write_closes(stored, Feed.STOCKS, "AAPL", closes)
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-11-17": 30.0, "2026-11-19": 31.0})
    found = await answer(client, f"{PRICES}/AAPL/history?currency=TRY&start=2026-11-01&end=2026-11-19")
    assert (found["symbol"], found["currency"], found["quotedCurrency"]) == ("AAPL", "TRY", "USD")
    assert found["path"] == [{"from": "USD", "to": "TRY", "symbol": "USD", "provider": "test"}]
    assert [(each["date"], each["price"], each["rate"], each["rateDate"]) for each in found["prices"]] == [
        ("2026-11-02", None, None, None),
        ("2026-11-17", 6000.0, 30.0, "2026-11-17"),
        ("2026-11-18", 6300.0, 30.0, "2026-11-17"),
        ("2026-11-19", 6820.0, 31.0, "2026-11-19"),
    ]


@pytest.mark.parametrize("spelling", ["BTC%2FUSDT", "BTC%2fusdt", "BTC/USDT", "btc-usdt"])
async def test_a_pair_in_a_path_has_any_spelling(
    client: httpx.AsyncClient, stored: Stored, spelling: str
) -> None:
    write_closes(stored, Feed.CRYPTO, "BTC/USDT", {"2026-11-18": 80_000.0})
    assert (await answer(client, f"{PRICES}/{spelling}"))["symbol"] == "BTC/USDT"
    found = await answer(client, f"{PRICES}/{spelling}/history?start=2026-11-18&end=2026-11-18")
    assert [each["price"] for each in found["prices"]] == [80_000.0]


async def test_a_rate_is_the_product_of_its_path(client: httpx.AsyncClient, stored: Stored) -> None:
    found = await answer(client, "/api/rates?from=eur&to=usd")
    assert (found["from"], found["to"], found["rate"], found["dateAsked"]) == ("EUR", "USD", 1.25, None)
    assert [each["symbol"] for each in found["rates"]] == ["EUR", "USD"]
    write_closes(stored, Feed.DOVIZ, "EUR", {"2026-11-13": 60.0})
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-11-12": 30.0})
    past = await answer(client, "/api/rates?from=EUR&to=USD&date=2026-11-13")
    assert (past["rate"], past["date"]) == (pytest.approx(2.0), "2026-11-12")
    assert [each["date"] for each in past["rates"]] == ["2026-11-13", "2026-11-12"]
    same = await answer(client, "/api/rates?from=EUR&to=EUR&date=2026-11-13")
    assert (same["rate"], same["rates"], same["date"]) == (1.0, [], "2026-11-13")


async def test_no_digit_of_a_price_is_invented(client: httpx.AsyncClient) -> None:
    """Twelve significant digits of the exact product."""
    found = await answer(client, f"{PRICES}/MSFT?currency=EUR")
    exact = Decimal(repr(found["quotedPrice"]))
    for rate in found["rates"]:
        exact *= Decimal(repr(rate["rate"]))
    assert Decimal(repr(found["price"])) == round(exact, 12).normalize()


async def test_delayed_and_stale_prices_say_so(parts: Services) -> None:
    late = FeedInfo(provider="test", delay_seconds=900.0)
    parts.mirrors[Feed.STOCKS] = mirror_of(Feed.STOCKS, [stock("AAPL")], info=late)  # type: ignore[index]
    async with client_of(parts) as client:
        found = await answer(client, f"{PRICES}/AAPL")
        assert (found["status"], found["delaySeconds"]) == ("delayed", 900.0)
        parts.mirrors[Feed.DOVIZ].heard_at = MONOTONIC - 60
        assert (await answer(client, f"{PRICES}/AAPL"))["status"] == "delayed"
        response = await client.get(f"{PRICES}/AAPL?currency=TRY")
        assert (response.json()["status"], response.headers["x-feed-state"]) == ("stale", "stale")


async def test_a_plan_bounds_the_past(parts: Services, stored: Stored) -> None:
    """The first day of a plan's past has a price, though the days before it are out of reach."""
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-12": 190.0, "2026-11-13": 200.0})
    async with client_of(replace(parts, reach=Reach("free", 7))) as client:
        assert (await answer(client, f"{PRICES}/AAPL?date=2026-11-13"))["price"] == 200.0
        for path in ("AAPL?date=2026-11-12", "AAPL/history?start=2026-11-12"):
            assert (await client.get(f"{PRICES}/{path}")).json()["code"] == "plan_history", path
        days = (await answer(client, f"{PRICES}/AAPL/history"))["prices"]
        assert [each["date"] for each in days] == ["2026-11-13"]
        assert (await client.get("/api/rates?from=EUR&to=TRY&date=2026-11-12")).status_code == 403


async def test_a_key_for_some_symbols_has_no_other_price_or_rate(parts: Services) -> None:
    async with client_of(replace(parts, only=("AAPL", "EUR"))) as client:
        response = await client.get(f"{PRICES}?symbols=AAPL,MSFT,gram-altin,XAU")
        assert [*response.json()] == ["AAPL"]
        assert response.headers["x-missing-symbols"] == "MSFT,GRAM-ALTIN,XAU"
        assert (await answer(client, "/api/rates?from=EUR&to=TRY"))["rate"] == 50.0
        assert await refusal(client, f"{PRICES}/AAPL?currency=TRY") == (
            "currency",
            "There is no rate from USD to TRY",
        )


async def test_prices_of_now_are_cacheable_for_a_second_and_closes_for_longer(
    client: httpx.AsyncClient, stored: Stored
) -> None:
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-12": 190.0})
    now = await client.get(f"{PRICES}/AAPL")
    past = await client.get(f"{PRICES}/AAPL?date=2026-11-12")
    assert now.headers["cache-control"].startswith("public, max-age=1,")
    assert past.headers["cache-control"].startswith("public, max-age=3600,")
    again = await client.get(f"{PRICES}/AAPL", headers={"If-None-Match": now.headers["etag"]})
    assert again.status_code == 304


async def test_an_instrument_that_is_listed_is_in_the_next_answer(
    client: httpx.AsyncClient, parts: Services
) -> None:
    """Also where the feed that lists it has none of the other instruments."""
    query = f"{PRICES}?symbols=AAPL,SOL-USDT"
    assert list(await answer(client, query)) == ["AAPL"]
    changes = [encode_change(pair("SOL/USDT"))]
    assert parts.mirrors[Feed.CRYPTO].apply(Batch(feed=Feed.CRYPTO, epoch=EPOCH, seq=8, changes=changes))
    assert list(await answer(client, query)) == ["AAPL", "SOL/USDT"]


async def test_tables_and_directives_have_the_same_prices(client: httpx.AsyncClient, stored: Stored) -> None:
    """A pair's directive prices its base asset; names are quoted, or made valid, as each tool needs."""
    query = f"{PRICES}?symbols=AAPL,BTC-USDT,gram-altin&currency=EUR"
    rows = (await client.get(f"{query}&format=csv")).text.splitlines()
    assert rows[0].startswith("symbol,type,name,unit,price,currency,date,dateAsked,timestamp,status")
    assert rows[3].startswith("gram-altin,doviz,The gram-altin,gram,80.0,EUR,2026-11-20")
    beancount = await client.get(f"{query}&format=beancount")
    assert beancount.headers["content-type"] == "text/plain; charset=utf-8"
    assert beancount.text.splitlines() == [
        "2026-11-20 price AAPL 240.0 EUR",
        "2026-11-20 price BTC 79200.0 EUR",
        "2026-11-20 price GRAM-ALTIN 80.0 EUR",
    ]
    assert (await client.get(f"{query}&format=ledger")).text.splitlines() == [
        "P 2026-11-20 AAPL 240.0 EUR",
        "P 2026-11-20 BTC 79200.0 EUR",
        'P 2026-11-20 "gram-altin" 80.0 EUR',
    ]
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-11-17": 30.0, "2026-11-18": 31.0})
    history = await client.get(f"{PRICES}/USD/history?start=2026-11-17&end=2026-11-18&format=ledger")
    assert history.text == "P 2026-11-17 USD 30.0 TRY\nP 2026-11-18 USD 31.0 TRY\n"


async def test_prices_say_what_the_terms_of_their_provider_allow(parts: Services, stored: Stored) -> None:
    """Lists are short; one symbol and its history have the terms with source and day."""
    rates = [replace(lira("USD", 40.0), provider="tcmb"), replace(lira("EUR", 50.0), provider="genelpara")]
    feeds = {**parts.mirrors, Feed.DOVIZ: mirror_of(Feed.DOVIZ, rates)}
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-11-18": 31.0})
    async with client_of(replace(parts, mirrors=feeds)) as client:
        prices = await answer(client, f"{PRICES}?symbols=USD,EUR,BTC-USDT")
        terms = (await answer(client, f"{PRICES}/USD"))["terms"]
        history = await answer(client, f"{PRICES}/USD/history?start=2026-11-18&end=2026-11-18")
        table = (await client.get(f"{PRICES}/USD?format=csv")).text
    assert [(each["show"], each["attribution"], each["terms"]) for each in prices.values()] == [
        ("yes", "Central Bank of the Republic of Türkiye", None),
        ("unknown", None, None),
        (None, None, None),
    ]
    assert (terms["redistribute"], terms["read"]) == ("agreement", "2026-11-28")
    assert history["terms"] == terms
    assert "Central Bank" in table
    assert terms["source"] not in table
