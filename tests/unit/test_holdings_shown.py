"""Holdings as they are answered."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from factories import doviz, empty_mirrors, full_mirrors, mirror_of
from market_made import pair, stock
from quotecast.accounts.portfolio import Holding
from quotecast.api.examples import plain
from quotecast.api.holdings_shown import SHOWN, VALUED, shown, valued
from quotecast.api.lookup import Mirrors
from quotecast.market import codec
from quotecast.market.feeds import Feed

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


def told(of: Holding) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(codec.encode_json(valued(of, mirrors())), parse_float=Decimal)
    return parsed


def test_a_holding_by_itself_has_no_worth() -> None:
    """Its amounts are numbers without needless zeros; the fields of its worth are not there."""
    many = holding(shares=Decimal("1E+3"), avg_cost=Decimal("2.50"))
    text = codec.encode_json(shown(many)).decode()
    assert '"shares":1000,"avg_cost":2.5,' in text
    assert not set(WORTH) & set(json.loads(text))


@pytest.mark.parametrize(
    ("ticker", "currency", "price"),
    [("AAPL", "USD", "100.1"), ("BTC/EUR", "EUR", "90000.0"), ("gram-altin", "TRY", "42.0")],
)
def test_a_quote_in_its_currency_is_its_worth(ticker: str, currency: str, price: str) -> None:
    """Dollars for stocks, the second part of a pair, the currency that a metal is quoted in."""
    answer = told(holding(ticker, currency))
    assert answer["price"] == Decimal(price)
    assert answer["market_value"] == Decimal(price) * Decimal("0.1")
    assert answer["gain"] == answer["market_value"] - Decimal("3.03")


@pytest.mark.parametrize(
    ("ticker", "currency"),
    [("AAPL", "TRY"), ("BTC/EUR", "USD"), ("gram-altin", "USD"), ("NOPE", "USD")],
)
def test_any_other_quote_is_none(ticker: str, currency: str) -> None:
    """Every field is there, and null: also of a later feed that quotes in the holding's currency."""
    assert {name: told(holding(ticker, currency))[name] for name in WORTH} == dict.fromkeys(WORTH)


def test_without_data_nothing_is_known() -> None:
    """Null, not zero."""
    answer = json.loads(codec.encode_json(valued(holding(), empty_mirrors())))
    assert {name: answer[name] for name in WORTH} == dict.fromkeys(WORTH)


def test_an_unknown_change_is_null() -> None:
    """The rest is known all the same."""
    unchanged = msgspec.structs.replace(stock("AAPL"), change=None)
    there = full_mirrors() | {Feed.STOCKS: mirror_of(Feed.STOCKS, [unchanged])}
    answer = json.loads(codec.encode_json(valued(holding(), there)))
    assert (answer["market_value"], answer["day_change"]) == (10, None)


def test_a_ticker_kept_without_data_is_found_later() -> None:
    """It was kept in upper case, before any feed told how it is spelled."""
    assert told(holding("GRAM-ALTIN", "TRY"))["price"] == 42


def test_the_examples_are_what_is_answered() -> None:
    """The same fields in the same order, and amounts that are numbers."""
    alone, worth = json.loads(codec.encode_json(shown(holding()))), told(holding())
    assert list(plain(SHOWN)) == list(alone)
    assert list(plain(VALUED)) == list(worth)
    amounts = {"shares", "avg_cost", *WORTH}
    assert all(isinstance(plain(VALUED)[name], float) for name in amounts)
