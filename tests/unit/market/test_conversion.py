"""Currency conversion by the rates of quotes."""

from datetime import date
from decimal import Decimal

import msgspec
import pytest

from quotecast.market.conversion import Rate, factor, rate_of, rates_between, rates_of
from quotecast.market.quotes import DovizQuote, Quote
from support.made.factories import doviz
from support.made.market import pair, stock

WHEN = "2026-11-20T15:00:00.000Z"


def lira(code: str, price: float, symbol: str = "") -> DovizQuote:
    """Returns a quote of a foreign currency in lira, of the free market or of a bank."""
    quote = doviz(symbol or code, "currency")
    return msgspec.structs.replace(quote, unit=f"1 {code}", price=price)


DOLLAR = lira("USD", 40.0)
EURO = lira("EUR", 50.0)
TETHER = pair("USDT/TRY", 44.0)


def test_a_rate_of_a_quote_is_named_and_dated() -> None:
    """A rate carries the quote's symbol and timestamp."""
    assert rate_of(DOLLAR) == Rate("USD", "TRY", Decimal("40.0"), DOLLAR)
    assert rate_of(TETHER) == Rate("USDT", "TRY", Decimal("44.0"), TETHER)


@pytest.mark.parametrize("quote", [stock("AAPL"), doviz("gram-altin", "gold"), doviz("XU100", "index")])
def test_what_is_no_currency_has_no_rate(quote: DovizQuote) -> None:
    assert rate_of(quote) is None


def test_a_currency_in_itself_needs_no_rate() -> None:
    assert rates_between([rates_of([])], "USD", "USD") == ()
    assert factor(()) == 1


def test_a_rate_is_turned_round_when_it_is_needed_the_other_way() -> None:
    """An inverse rate carries the symbol of the quote that it inverts."""
    (rate,) = rates_between([rates_of([DOLLAR])], "TRY", "USD") or ()
    assert rate == Rate("TRY", "USD", Decimal("0.025"), DOLLAR)


def test_two_currencies_meet_in_a_third() -> None:
    """Tether converts to dollars by way of lira, and so do euros."""
    tether = rates_between([rates_of([DOLLAR, EURO, TETHER])], "USDT", "USD")
    assert tether is not None
    assert [rate.quote.key for rate in tether] == ["USDT/TRY", "USD"]
    assert factor(tether) == Decimal("1.1")
    euro = rates_between([rates_of([DOLLAR, EURO, TETHER])], "EUR", "USD")
    assert euro is not None
    assert factor(euro) == Decimal("1.25")


def test_the_free_market_is_preferred_to_a_bank() -> None:
    """The order of the quotes does not matter."""
    bank = lira("USD", 41.0, "akbank-USD")
    for quotes in ([bank, DOLLAR], [DOLLAR, bank]):
        assert [rate.quote.key for rate in rates_between([rates_of(quotes)], "USD", "TRY") or ()] == ["USD"]
    assert [rate.quote.key for rate in rates_between([rates_of([bank])], "USD", "TRY") or ()] == [
        "akbank-USD"
    ]


def test_money_is_preferred_to_coins_on_the_way() -> None:
    """Of two chains of one length, the one over an ISO currency wins."""
    quotes: list[Quote] = [
        pair("BTC/USDT", 90_000.0),
        pair("BTC/EUR", 80_000.0),
        pair("ETH/BTC", 0.03),
        EURO,
        TETHER,
    ]
    assert [rate.quote.key for rate in rates_between([rates_of(quotes)], "USDT", "EUR") or ()] == [
        "USDT/TRY",
        "EUR",
    ]


def test_without_a_way_nothing_is_invented() -> None:
    """Tether is not the dollar, and a coin in which nothing is priced is not a currency."""
    assert rates_between([rates_of([DOLLAR])], "USDT", "USD") is None
    assert rates_between([rates_of([pair("SOL/USDT", 100.0), pair("SOL/EUR", 90.0)])], "USDT", "EUR") is None


def metal(symbol: str, price: float, currency: str = "TRY") -> DovizQuote:
    return msgspec.structs.replace(doviz(symbol, "gold"), price=price, currency=currency)


def test_an_ounce_on_the_world_market_is_preferred_to_local_grams() -> None:
    """Local gold has a premium; without a quote of the ounce, its gram is the price."""
    ounce, gram = metal("ons", 4000.0, "USD"), metal("gram-has-altin", 6000.0)
    (direct,) = rates_between([rates_of([gram, ounce])], "XAU", "USD") or ()
    assert direct.rate == 4000
    path = rates_between([rates_of([gram, ounce, DOLLAR])], "XAU", "TRY") or ()
    assert [rate.quote.key for rate in path] == ["ons", "USD"]
    (local,) = rates_between([rates_of([gram, DOLLAR])], "XAU", "TRY") or ()
    assert local.rate == Decimal("31.1034768") * 6000


def test_no_money_is_changed_by_way_of_a_metal() -> None:
    """Gold has prices in dollars and in lira, but nobody pays with it."""
    quotes = [metal("ons", 4000.0, "USD"), metal("gumus", 60.0)]
    assert rates_between([rates_of(quotes)], "USD", "TRY") is None


def test_rates_of_two_feeds_make_one_path() -> None:
    path = rates_between([rates_of([DOLLAR, EURO]), rates_of([TETHER])], "USDT", "EUR") or ()
    assert [rate.quote.key for rate in path] == ["USDT/TRY", "EUR"]


def test_a_past_close_makes_the_rate_of_its_day() -> None:
    """In the direction of the rate, and by the ounce for a price of a gram."""
    day = date(2026, 3, 31)
    (inverse,) = rates_between([rates_of([DOLLAR])], "TRY", "USD") or ()
    past = inverse.at_close(50.0, day)
    assert past is not None
    assert (past.base, past.rate, past.day, past.is_inverse) == ("TRY", Decimal("0.02"), day, True)
    silver = rate_of(metal("gumus", 60.0))
    assert silver is not None
    ounce = silver.at_close(100.0, day)
    assert ounce is not None
    assert ounce.rate == Decimal("3110.34768")
    assert inverse.at_close(0.0, day) is None
