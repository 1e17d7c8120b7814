"""The packaged tables of instruments."""

import csv
import math
from collections import Counter, defaultdict
from importlib import resources

import pytest

from quotecast.market.feeds import Feed
from quotecast.market.instruments import CATEGORIES, canonical_symbol
from quotecast.market.reference import (
    DovizInstrument,
    Pair,
    Stock,
    asset_name,
    doviz_instruments,
    pairs,
    stocks,
)

SECTORS = {
    "Communication Services",
    "Consumer Discretionary",
    "Consumer Staples",
    "Energy",
    "Financials",
    "Health Care",
    "Industrials",
    "Information Technology",
    "Materials",
    "Real Estate",
    "Utilities",
}
TROY_OUNCE_IN_GRAMS = 31.1035


def symbols_of(feed: Feed) -> list[str]:
    return {
        Feed.STOCKS: [stock.ticker for stock in stocks()],
        Feed.CRYPTO: [pair.ticker for pair in pairs()],
        Feed.DOVIZ: [instrument.symbol for instrument in doviz_instruments()],
    }[feed]


def stock(ticker: str) -> Stock:
    return next(stock for stock in stocks() if stock.ticker == ticker)


def pair(ticker: str) -> Pair:
    return next(pair for pair in pairs() if pair.ticker == ticker)


def doviz(symbol: str) -> DovizInstrument:
    return next(instrument for instrument in doviz_instruments() if instrument.symbol == symbol)


def market() -> list[DovizInstrument]:
    return [instrument for instrument in doviz_instruments() if instrument.bank is None]


@pytest.mark.parametrize("feed", Feed)
def test_symbols_are_told_apart_by_their_canonical_form(feed: Feed) -> None:
    """No two instruments of a feed share a spelling, whatever the case."""
    spellings = [canonical_symbol(feed, symbol) for symbol in symbols_of(feed)]
    assert len(set(spellings)) == len(spellings)


@pytest.mark.parametrize("feed", Feed)
def test_symbols_are_canonical_up_to_case(feed: Feed) -> None:
    """Every symbol is one that a client can ask for."""
    for symbol in symbols_of(feed):
        spelled = canonical_symbol(feed, symbol)
        assert spelled is not None, symbol
        assert spelled.casefold() == symbol.casefold()


@pytest.mark.parametrize("feed", [Feed.STOCKS, Feed.CRYPTO])
def test_tickers_are_upper_case(feed: Feed) -> None:
    """Stocks and pairs are written as they are answered."""
    assert [symbol for symbol in symbols_of(feed) if symbol != symbol.upper()] == []


@pytest.mark.parametrize("file_name", ["stocks.csv", "crypto.csv", "doviz.csv", "banks.csv"])
def test_tables_have_neither_empty_nor_padded_cells(file_name: str) -> None:
    """A slip of the pen in a table shows here, not in an answer."""
    text = (resources.files("quotecast.market") / "data" / file_name).read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    assert rows
    for row in rows:
        assert len(row) == len(header), row
        assert all(cell and cell == cell.strip() for cell in row), row


def test_prices_and_amounts_are_positive_and_finite() -> None:
    """A simulation can start from every instrument."""
    numbers = [
        *(number for stock in stocks() for number in (stock.price, stock.shares)),
        *(number for pair in pairs() for number in (pair.price, pair.supply)),
        *(instrument.price for instrument in doviz_instruments()),
    ]
    assert [number for number in numbers if not 0 < number < math.inf] == []


def test_there_are_some_500_stocks() -> None:
    """The universe is as large as that of a well-known index."""
    assert 490 <= len(stocks()) <= 520


def test_stocks_fill_exactly_the_eleven_sectors() -> None:
    """Sectors are those of GICS, each with enough stocks for a heatmap."""
    sizes = Counter(stock.sector for stock in stocks())
    assert set(sizes) == SECTORS
    assert min(sizes.values()) >= 20


def test_an_industry_belongs_to_one_sector() -> None:
    """GICS is a tree."""
    sectors = defaultdict(set)
    for listed in stocks():
        sectors[listed.industry].add(listed.sector)
    assert {industry for industry, above in sectors.items() if len(above) > 1} == set()


@pytest.mark.parametrize(
    ("ticker", "name", "exchange", "sector"),
    [
        ("AAPL", "Apple Inc.", "NASDAQ", "Information Technology"),
        ("GOOGL", "Alphabet Inc. Class A", "NASDAQ", "Communication Services"),
        ("AMZN", "Amazon.com, Inc.", "NASDAQ", "Consumer Discretionary"),
        ("BRK.B", "Berkshire Hathaway Inc. Class B", "NYSE", "Financials"),
        ("V", "Visa Inc.", "NYSE", "Financials"),
        ("XOM", "Exxon Mobil Corporation", "NYSE", "Energy"),
        ("EL", "The Estée Lauder Companies Inc.", "NYSE", "Consumer Staples"),
    ],
)
def test_well_known_companies_are_listed(ticker: str, name: str, exchange: str, sector: str) -> None:
    """Names, commas and accents included, come through as written."""
    listed = stock(ticker)
    assert (listed.name, listed.exchange, listed.sector) == (name, exchange, sector)


def test_pairs_are_quoted_in_usdt_bitcoin_euro_and_lira() -> None:
    """Most pairs are in USDT, a few in each of the others."""
    quotes = Counter(pair.quote for pair in pairs())
    assert set(quotes) == {"USDT", "BTC", "EUR", "TRY"}
    assert quotes["USDT"] >= 50
    assert min(quotes.values()) >= 4


@pytest.mark.parametrize("quote", ["BTC", "EUR", "TRY"])
def test_pairs_agree_on_prices(quote: str) -> None:
    """An asset's prices in two currencies stand in one ratio, the same for all assets."""
    in_usdt = {pair.base: pair.price for pair in pairs() if pair.quote == "USDT"}
    ratios = [
        in_usdt[pair.base] / pair.price for pair in pairs() if pair.quote == quote and pair.base in in_usdt
    ]
    assert max(ratios) / min(ratios) < 1.005


def test_an_asset_has_one_name_and_one_supply() -> None:
    """Pairs of the same base describe the same asset."""
    assets = {(pair.base, pair.name, pair.supply) for pair in pairs()}
    assert len(assets) == len({pair.base for pair in pairs()})


def test_assets_are_named() -> None:
    """The name of a base asset is known, that of anything else is not."""
    assert asset_name("BTC") == "Bitcoin"
    assert asset_name("USDT") == "Tether"
    assert asset_name("NOSUCH") is None


def test_markets_cover_the_five_categories() -> None:
    """Every category has instruments outside the banks, currencies the most."""
    sizes = Counter(instrument.category for instrument in market())
    assert set(sizes) == set(CATEGORIES)
    assert sum(sizes.values()) >= 40
    assert sizes["currency"] >= 20
    assert min(sizes.values()) >= 2


@pytest.mark.parametrize(
    ("symbol", "name", "category", "currency"),
    [
        ("USD", "ABD Doları", "currency", "TRY"),
        ("GBP", "İngiliz Sterlini", "currency", "TRY"),
        ("gram-altin", "Gram Altın", "gold", "TRY"),
        ("ceyrek-altin", "Çeyrek Altın", "gold", "TRY"),
        ("resat-altin", "Reşat Altın", "gold", "TRY"),
        ("ons", "Ons Altın", "gold", "USD"),
        ("gumus", "Gümüş", "silver", "TRY"),
        ("gram-paladyum", "Gram Paladyum", "precious_metals", "TRY"),
        ("XU100", "BIST 100", "index", "TRY"),
    ],
)
def test_turkish_names_are_spelled_properly(symbol: str, name: str, category: str, currency: str) -> None:
    """The table has dotted and dotless i, cedillas and umlauts."""
    instrument = doviz(symbol)
    assert (instrument.name, instrument.category, instrument.currency) == (name, category, currency)


@pytest.mark.parametrize(
    ("gram", "ounce"),
    [
        ("gram-altin", "ons"),
        ("gumus", "ons-gumus"),
        ("gram-platin", "ons-platin"),
        ("gram-paladyum", "ons-paladyum"),
    ],
)
def test_a_gram_in_lira_is_worth_its_part_of_an_ounce_in_dollars(gram: str, ounce: str) -> None:
    """Metals and the dollar agree on prices."""
    worth = doviz(ounce).price * doviz("USD").price / TROY_OUNCE_IN_GRAMS
    assert doviz(gram).price == pytest.approx(worth, rel=0.01)


def test_tether_costs_about_a_dollar_in_lira() -> None:
    """The crypto table and the market table tell of the same world."""
    assert pair("USDT/TRY").price == pytest.approx(doviz("USD").price, rel=0.01)


def test_at_least_six_banks_deal_in_at_least_three_instruments() -> None:
    """Each bank has a name of its own and enough instruments to be listed."""
    offers = Counter((offer.bank, offer.source) for offer in doviz_instruments() if offer.bank)
    assert len(offers) == len({bank for bank, _ in offers}) >= 6
    assert min(offers.values()) >= 3


def test_a_bank_deals_in_what_the_market_does_at_wider_spreads() -> None:
    """A bank's instrument differs from the market's in symbol, source and spread only."""
    of_market = {instrument.symbol: instrument for instrument in market()}
    for offer in doviz_instruments():
        if offer.bank is None:
            continue
        assert offer.underlying is not None
        underlying = of_market[offer.underlying]
        assert offer.symbol == f"{offer.bank}-{underlying.symbol}"
        assert (offer.name, offer.category) == (underlying.name, underlying.category)
        assert (offer.unit, offer.currency) == (underlying.unit, underlying.currency)
        assert underlying.spread_percent < offer.spread_percent < 10


def test_banks_go_by_their_proper_names() -> None:
    """The source of a bank's instrument is the bank as people know it."""
    assert doviz("akbank-USD").source == "Akbank"
    assert doviz("isbank-gram-altin").source == "İş Bankası"
    assert doviz("ziraat-gram-altin").bank == "ziraat"
