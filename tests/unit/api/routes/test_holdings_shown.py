"""Holdings in answers, and their valuation."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from msgspec import to_builtins

from quotecast.api.market.names import Mirrors
from quotecast.api.prices.rates import rate_finder
from quotecast.api.routes.portfolio.holdings_shown import (
    SHOWN,
    VALUED,
    encode_holding,
    value_holding,
)
from quotecast.market import codec
from quotecast.market.feeds import Feed
from quotecast.portfolio.portfolio import Holding
from support.made.factories import doviz, empty_mirrors, full_mirrors, mirror_of
from support.made.market import pair, stock

WORTH = ("price", "market_value", "gain", "gain_percent", "day_change")


def holding(ticker: str = "AAPL", currency: str = "USD", **other: Any) -> Holding:
    given: dict[str, Any] = {
        "id": "01a1fc87e0c47a905dd5d085",
        "shares": Decimal("0.1"),
        "avg_cost": Decimal("30.3"),
        "bought_at": date(2026, 3, 2),
        "created_at": datetime(2026, 11, 20, 15, 30, tzinfo=UTC),
    }
    return Holding(ticker=ticker, currency=currency, **(given | other))


def mirrors() -> Mirrors:
    return {
        Feed.STOCKS: mirror_of(Feed.STOCKS, [stock("AAPL", price=100.1)]),
        Feed.CRYPTO: mirror_of(Feed.CRYPTO, [pair("BTC/EUR"), pair("AAPL/USD", price=7.0)]),
        Feed.DOVIZ: mirror_of(Feed.DOVIZ, [doviz("gram-altin", "gold"), doviz("AAPL", "currency")]),
    }


def worth_in(there: Mirrors, of: Holding, currency: str | None = None) -> dict[str, Any]:
    """Returns the answer for a holding with these quotes."""
    body = codec.encode_json(value_holding(of, there, rate_finder(there), currency))
    parsed: dict[str, Any] = json.loads(body, parse_float=Decimal)
    return parsed


def answer_of(of: Holding, currency: str | None = None) -> dict[str, Any]:
    return worth_in(mirrors(), of, currency)


def rated() -> Mirrors:
    """Returns mirrors with quotes that are rates between currencies."""
    dollar = msgspec.structs.replace(doviz("USD", "currency"), unit="1 USD", price=40.0)
    pairs = [pair("BTC/USDT", price=90_000.0), pair("USDT/TRY", price=44.0)]
    return full_mirrors() | {
        Feed.CRYPTO: mirror_of(Feed.CRYPTO, pairs),
        Feed.DOVIZ: mirror_of(Feed.DOVIZ, [dollar, doviz("ons", "gold")]),
    }


def test_a_holding_by_itself_has_no_worth() -> None:
    """Without a valuation, amounts have no trailing zeros and the fields of value are absent."""
    many = holding(shares=Decimal("1E+3"), avg_cost=Decimal("2.50"))
    text = codec.encode_json(encode_holding(many, mirrors())).decode()
    assert '"shares":1000,"avg_cost":2.5,' in text
    assert not set(WORTH) & set(json.loads(text))


@pytest.mark.parametrize(
    ("ticker", "currency", "price"),
    [("AAPL", "USD", "100.1"), ("BTC/EUR", "EUR", "90000.0"), ("gram-altin", "TRY", "42.0")],
)
def test_a_quote_in_its_currency_is_its_worth(ticker: str, currency: str, price: str) -> None:
    """A quote is in dollars for stocks, in the quote asset for pairs, in its own currency for metals."""
    answer = answer_of(holding(ticker, currency))
    assert answer["price"] == Decimal(price)
    assert answer["market_value"] == Decimal(price) * Decimal("0.1")
    assert answer["gain"] == answer["market_value"] - Decimal("3.03")


@pytest.mark.parametrize(
    ("ticker", "currency"),
    [("AAPL", "TRY"), ("BTC/EUR", "USD"), ("gram-altin", "USD"), ("NOPE", "USD")],
)
def test_any_other_quote_is_none(ticker: str, currency: str) -> None:
    """Without a matching quote every field of value is null."""
    assert {name: answer_of(holding(ticker, currency))[name] for name in WORTH} == dict.fromkeys(WORTH)


def test_without_data_nothing_is_known() -> None:
    """Without data the values are null, not zero."""
    answer = worth_in(empty_mirrors(), holding())
    assert {name: answer[name] for name in WORTH} == dict.fromkeys(WORTH)


def test_an_unknown_change_is_null() -> None:
    """An unknown change is null; the other values are there."""
    unchanged = msgspec.structs.replace(stock("AAPL"), change=None)
    there = full_mirrors() | {Feed.STOCKS: mirror_of(Feed.STOCKS, [unchanged])}
    answer = worth_in(there, holding())
    assert (answer["market_value"], answer["day_change"]) == (10, None)


def test_a_ticker_kept_without_data_is_found_later() -> None:
    """A ticker stored in upper case matches a feed's own spelling later."""
    assert answer_of(holding("GRAM-ALTIN", "TRY"))["price"] == 42


@pytest.mark.parametrize(
    ("ticker", "kind"), [("AAPL", "stock"), ("BTC/EUR", "crypto"), ("gram-altin", "doviz"), ("NOPE", None)]
)
def test_a_holding_says_what_it_is(ticker: str, kind: str | None) -> None:
    """The type of a holding is that of its feed; null if no feed has the ticker."""
    assert answer_of(holding(ticker))["type"] == kind
    assert json.loads(codec.encode_json(encode_holding(holding(ticker), mirrors())))["type"] == kind


def test_a_quote_in_another_currency_is_converted() -> None:
    """A chain of rates converts USDT through TRY into USD, and names its quotes."""
    answer = worth_in(rated(), holding("BTC/USDT", "USD"))
    assert (answer["price"], answer["market_value"]) == (Decimal("99000.0"), Decimal("9900.0"))
    assert answer["gain"] == Decimal(9900) - Decimal("3.03")
    when = {"timestamp": "2026-11-20T15:00:00.000Z", "date": "2026-11-20", "provider": "test"}
    assert answer["rates"] == [
        {"from": "USDT", "to": "TRY", "rate": 44, "symbol": "USDT/TRY", **when},
        {"from": "TRY", "to": "USD", "rate": Decimal("0.025"), "symbol": "USD", **when},
    ]


def test_what_moved_today_is_converted_too() -> None:
    """The current rate converts the change of the day."""
    answer = worth_in(rated(), holding("AAPL", "TRY"))
    assert (answer["price"], answer["day_change"]) == (4000, 4)


def test_a_holding_is_valued_in_the_currency_asked_for() -> None:
    """The value in the requested currency is null without a rate; that in its own currency stays."""
    answer = worth_in(rated(), holding("AAPL", "USD"), "TRY")
    assert answer["rates"] == []
    converted = answer["converted"]
    assert (converted["currency"], converted["market_value"], converted["gain"]) == (
        "TRY",
        400,
        Decimal("278.8"),
    )
    assert [rate["symbol"] for rate in converted["rates"]] == ["USD"]
    nowhere = worth_in(rated(), holding("AAPL", "USD"), "ZAR")
    assert (nowhere["market_value"], nowhere["converted"]) == (10, None)


def test_the_examples_are_what_is_answered() -> None:
    """The examples have the fields of the answers in the same order, with numbers as amounts."""
    alone = json.loads(codec.encode_json(encode_holding(holding(), mirrors())))
    worth = worth_in(rated(), holding(), "TRY")
    assert list(to_builtins(SHOWN)) == list(alone)
    assert list(to_builtins(VALUED)) == list(worth)
    assert list(to_builtins(VALUED)["converted"]) == list(worth["converted"])
    amounts = {"shares", "avg_cost", *WORTH}
    assert all(isinstance(to_builtins(VALUED)[name], float) for name in amounts)
