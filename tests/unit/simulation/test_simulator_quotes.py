"""Quotes of the simulated market."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quotecast.market.feeds import Feed
from quotecast.market.quotes import CryptoQuote, DovizQuote, StockQuote
from quotecast.market.reference import Pair, Stock, doviz_instruments
from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market.hours import Hours, milliseconds
from quotecast.simulation.market.quoters import Quoter, iso, percent
from quotecast.simulation.market.venues import (
    doviz_quoters,
    hours_of,
    pair_quoters,
    pair_tapes,
    stock_quoters,
    stock_tapes,
)

ACME = Stock("ACME", "Acme", "NYSE", "Energy", "Oil", 900_000_000, 84.2)
BITCOIN = Pair("BTC", "USDT", "Bitcoin", 92_000.0, 19_970_000)
SHIB = Pair("SHIB", "USDT", "Shiba Inu", 8.5e-6, 589_000_000_000_000)
BITCOIN_IN_EUROS = Pair("BTC", "EUR", "Bitcoin", 80_000.0, 19_970_000)
EURO = Pair("EUR", "USDT", "Euro", 1.15, 10_000_000)
DOVIZ = {instrument.symbol: instrument for instrument in doviz_instruments()}
GOLD, BANK_GOLD = DOVIZ["gram-altin"], DOVIZ["akbank-gram-altin"]

ALWAYS = hours_of(Feed.STOCKS, always_open=True)
EXCHANGE = hours_of(Feed.STOCKS, always_open=False)
UTC_DAYS = hours_of(Feed.CRYPTO, always_open=True)
ISTANBUL_DAYS = hours_of(Feed.DOVIZ, always_open=True)

DAY = 86_400_000
moments = st.integers(
    milliseconds(datetime(2018, 1, 1, tzinfo=UTC)), milliseconds(datetime(2033, 1, 1, tzinfo=UTC))
)

AnyQuote = TypeVar("AnyQuote", StockQuote, CryptoQuote, DovizQuote)


def new_york(text: str) -> int:
    return milliseconds(datetime.fromisoformat(text).replace(tzinfo=NEW_YORK))


def quote_of(kind: type[AnyQuote], quoter: Quoter, moment: int) -> AnyQuote:
    quote = quoter.next_quote(moment)
    assert isinstance(quote, kind)
    return quote


def number(value: float | None) -> float:
    assert value is not None
    return value


@given(moments, st.sampled_from([ALWAYS, EXCHANGE]))
def test_a_stock_quote_tells_of_its_session(moment: int, venue: Hours) -> None:
    """A stock quote covers its session; the change is measured from the preceding session's close."""
    tape = stock_tapes([ACME], 1, venue)["ACME"].at(0)
    quote = quote_of(StockQuote, stock_quoters([ACME], 1, venue)[0], moment)
    day, before = tape.day_until(moment), tape.day(venue.before(venue.latest(moment)))
    assert (quote.open, quote.high, quote.low, quote.price) == (
        day.open / 100,
        day.high / 100,
        day.low / 100,
        day.close / 100,
    )
    assert quote.volume == str(day.volume)
    assert quote.previous_close == before.close / 100
    assert quote.change == (day.close - before.close) / 100
    assert quote.change_percent == pytest.approx((day.close / before.close - 1) * 100, abs=5.1e-5)


@given(moments, st.sampled_from([BITCOIN, SHIB]))
def test_a_crypto_quote_tells_of_the_last_24_hours(moment: int, pair: Pair) -> None:
    """A crypto quote covers the last 24 hours: the rest of the preceding day, and today so far."""
    tape = pair_tapes([pair], 1, UTC_DAYS)[pair.ticker].at(0)
    scale = tape.listing.scale
    quote = quote_of(CryptoQuote, pair_quoters([pair], 1, UTC_DAYS)[0], moment)
    ago = tape.price_at(moment - DAY)
    assert quote.price == tape.price_at(moment) / scale
    assert quote.open == ago / scale
    assert quote.change == (tape.price_at(moment) - ago) / scale
    assert number(quote.low) <= min(quote.price, quote.open) <= max(quote.price, quote.open)
    assert number(quote.high) >= max(quote.price, quote.open)
    assert 0 < number(quote.bid) < quote.price < number(quote.ask)
    traded = tape.day(tape.hours.latest(moment - DAY)).volume - tape.day_until(moment - DAY).volume
    assert quote.volume == (traded + tape.day_until(moment).volume) / tape.listing.volume_scale


@settings(max_examples=20)
@given(moments)
def test_the_last_24_hours_hold_the_highs_and_lows_of_their_minutes(moment: int) -> None:
    """High and low cover all minutes of the last 24 hours; the first and last minute reach beyond."""
    tape = pair_tapes([SHIB], 1, UTC_DAYS)[SHIB.ticker].at(0)
    quote = quote_of(CryptoQuote, pair_quoters([SHIB], 1, UTC_DAYS)[0], moment)
    minutes = list(tape.candles(60_000, moment - DAY, moment))
    high, low = number(quote.high) * tape.listing.scale, number(quote.low) * tape.listing.scale
    assert round(high) <= max(candle.high for candle in minutes)
    assert round(high) >= max(candle.high for candle in minutes[1:])
    assert round(low) >= min(candle.low for candle in minutes)
    assert round(low) <= min(candle.low for candle in minutes[1:])


@given(moments)
def test_a_doviz_quote_sells_at_its_price_and_buys_below(moment: int) -> None:
    """A doviz quote covers the day in Istanbul, which opens at the preceding day's close."""
    quote = quote_of(DovizQuote, doviz_quoters([GOLD], 1, ISTANBUL_DAYS)[0], moment)
    assert quote.selling == quote.price
    assert quote.buying == pytest.approx(quote.selling * 0.998, abs=0.01)
    assert number(quote.low) <= quote.price <= number(quote.high)
    assert quote.open == quote.previous_close
    assert quote.change == pytest.approx(quote.price - number(quote.previous_close), abs=1e-6)


@given(moments)
def test_a_bank_follows_the_market_with_a_wider_spread(moment: int) -> None:
    gold, bank = doviz_quoters([GOLD, BANK_GOLD], 1, ISTANBUL_DAYS)
    market, offer = quote_of(DovizQuote, gold, moment), quote_of(DovizQuote, bank, moment)
    assert market.selling <= offer.selling <= market.selling * 1.0031
    assert offer.buying < market.buying
    assert offer.change_percent == pytest.approx(market.change_percent, abs=0.001)
    assert number(offer.low) <= offer.price <= number(offer.high)


@given(st.integers(730_000, 745_000))
def test_pairs_with_an_asset_in_common_agree_at_midnight(day: int) -> None:
    """Cross rates agree: BTC/EUR equals BTC/USD over EUR/USD, apart from the tables' own rates."""
    pairs = [BITCOIN, BITCOIN_IN_EUROS, EURO]
    tapes = pair_tapes(pairs, 1, UTC_DAYS)
    dollars, euros, euro = (
        tapes[pair.ticker].listing.ticks(2 * day) / tapes[pair.ticker].listing.scale for pair in pairs
    )
    assert euros * euro == pytest.approx(dollars, rel=1e-4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: stock_quoters([ACME], 1, ALWAYS),
        lambda: pair_quoters([BITCOIN], 1, UTC_DAYS),
        lambda: doviz_quoters([GOLD], 1, ISTANBUL_DAYS),
    ],
)
def test_a_quote_is_returned_once(make: Callable[[], list[Quoter]]) -> None:
    """A quoter returns None for the same moment, and a new quote an hour later."""
    moment = new_york("2026-02-13T12:00")
    (quoter,) = make()
    assert quoter.next_quote(moment) is not None
    assert quoter.next_quote(moment) is None
    assert quoter.next_quote(moment + 3_600_000) is not None


def test_from_close_to_open_a_stock_has_no_news() -> None:
    """A stock has no new quote from a half day's close, over the weekend, to Monday's open."""
    (quoter,) = stock_quoters([ACME], 1, EXCHANGE)
    last = quote_of(StockQuote, quoter, new_york("2025-11-28T13:00"))
    assert last.timestamp == "2025-11-28T17:59:59.998Z"
    assert quoter.next_quote(new_york("2025-11-29T12:00")) is None
    assert quoter.next_quote(new_york("2025-12-01T09:29:59.999")) is None
    opened = quote_of(StockQuote, quoter, new_york("2025-12-01T09:30"))
    assert opened.previous_close == last.price


def test_stocks_of_a_sector_move_together() -> None:
    """Stocks of one sector correlate more than stocks of different sectors."""
    others = [
        Stock(f"S{n}", "S", "NYSE", "Energy" if n < 8 else f"Sector {n}", "I", 10**8, 50.0) for n in range(16)
    ]
    tapes = stock_tapes(others, 1, ALWAYS)
    start, end = new_york("2024-01-01"), new_york("2025-12-31")
    moves = [
        [day.close / day.open - 1 for _, day in tapes[stock.ticker].at(0).days(start, end)]
        for stock in others
    ]
    assert correlation(moves[:8]) > correlation(moves[8:]) + 0.1 > 0.2


def correlation(moves: list[list[float]]) -> float:
    """Returns the mean correlation of the moves."""
    averages = [sum(day) / len(moves) for day in zip(*moves, strict=True)]
    apart = sum(variance(each) for each in moves) / len(moves)
    return (variance(averages) / apart * len(moves) - 1) / (len(moves) - 1)


def variance(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / len(values)


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**9))
def test_percentages_are_rounded_to_four_decimals(change: int, base: int) -> None:
    assert percent(change, base) == pytest.approx(change / base * 100, abs=5.0001e-5, rel=1e-12)


def test_times_are_written_with_milliseconds() -> None:
    assert iso(1_770_998_400_007) == "2026-02-13T16:00:00.007Z"
