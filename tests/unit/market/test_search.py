"""The ranked search over all feeds."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market import reference
from quotecast.market.listings import LAST_PLACE, SearchResult, _aliases, pair_listings, stock_listings
from quotecast.market.search import MAX_WORDS, search
from support.made.documents import asset
from support.made.market import pair, stock
from support.made.search import doviz_quotes, found, index_of, indexes, pair_quotes, stock_quotes

TICKERS = sorted({**stock_quotes(), **pair_quotes(), **doviz_quotes()})


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("altin", ["gram-altin", "ceyrek-altin"]),
        ("alt", ["gram-altin", "ceyrek-altin"]),
        ("gra", ["gram-altin"]),
        ("Altın", ["gram-altin"]),
        ("ALTIN", ["gram-altin"]),
        ("gold", ["gram-altin", "ceyrek-altin", "ons"]),
        ("quarter gold", ["ceyrek-altin"]),
        ("çeyrek", ["ceyrek-altin"]),
        ("gold ounce", ["ons"]),
        ("silver", ["gumus", "ons-gumus"]),
        ("GÜMÜŞ", ["gumus"]),
        ("dollar", ["USD"]),
        ("dolar", ["USD"]),
        ("usd", ["USD", "USDT/TRY", "USDC/USDT"]),
        ("euro", ["EUR"]),
        ("xauusd", ["ons"]),
        ("btcusdt", ["BTC/USDT"]),
        ("BTC-USDT", ["BTC/USDT"]),
        ("btc try", ["BTC/TRY"]),
        ("btc", ["BTC/USDT"]),
        ("bitcoin", ["BTC/USDT"]),
        ("ethereum", ["ETH/USDT"]),
        ("ripple", ["XRP/USDT"]),
        ("is bankasi", ["isbank-gram-altin", "isbank-USD"]),
        ("İş Bankası", ["isbank-gram-altin", "isbank-USD"]),
        ("isbankasi", ["isbank-gram-altin"]),
        ("isbank", ["isbank-gram-altin"]),
        ("IŞBANK", ["isbank-gram-altin"]),
        ("is bankasi dolar", ["isbank-USD"]),
        ("dolar iş", ["isbank-USD"]),
        ("yapı kredi altın", ["yapikredi-gram-altin"]),
        ("garanti euro", ["garanti-EUR"]),
        ("bist 100", ["XU100"]),
        ("apple", ["AAPL"]),
        ("google", ["GOOGL", "GOOG"]),
        ("facebook", ["META"]),
        ("cocacola", ["KO"]),
        ("jp morgan", ["JPM"]),
        ("brkb", ["BRK.B"]),
        ("brk/b", ["BRK.B"]),
        ("a", ["A"]),
    ],
)
def test_best_match_is_the_first(text: str, first: list[str]) -> None:
    """Symbols, names and aliases in English and Turkish, without Turkish letters, blanks or slashes."""
    assert found(text)[: len(first)] == first


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("bitcon", "BTC/USDT"),
        ("bitcion", "BTC/USDT"),
        ("bittcoin", "BTC/USDT"),
        ("etherium", "ETH/USDT"),
        ("microsft", "MSFT"),
        ("gooogle", "GOOGL"),
        ("qarter gold", "ceyrek-altin"),
    ],
)
def test_one_mistake_in_a_longer_word_is_forgiven(text: str, first: str) -> None:
    """A letter that is missing, superfluous, wrong, or swapped with the next one."""
    assert found(text)[0] == first


@pytest.mark.parametrize("text", ["altx", "bxtcoxn", "zzzzz", "🚀", "-", "altin zzz"])
def test_nothing_matches(text: str) -> None:
    """Short words and two mistakes are not forgiven; every word must match."""
    assert found(text) == []


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_text_has_the_best_known(text: str) -> None:
    """As the search of a chart shows them before the first letter."""
    first = found(text)
    assert first
    assert len({*first}) == len(first)
    assert first[0] == found(first[0])[0]


def test_ranks_are_in_order() -> None:
    """Exact symbol, beginning of a symbol, whole word, beginning of a word, part of a word."""
    assets = [
        asset("E", "Upgolding Company"),
        asset("D", "Goldman Company"),
        asset("C", "Pure Gold Company"),
        asset("GOLDX", "Another Company"),
        asset("GOLD", "The Company"),
        asset("F", "Silver Company"),
    ]
    index = index_of(stock_listings(assets, {}, {}))
    assert [each.ticker for each in search([index], "gold", 10)] == ["GOLD", "GOLDX", "C", "D", "E"]


def test_equal_matches_come_by_turnover_then_by_length() -> None:
    """Without a quote the turnover is unknown, and counts as none."""
    assets = [asset(ticker, "Tin Mines") for ticker in ("AB", "LONG", "QUIET", "BUSY")]
    quotes = {"BUSY": stock("BUSY", 500.0), "QUIET": stock("QUIET", 1.0)}
    index = index_of(stock_listings(assets, quotes, {}))
    assert [each.ticker for each in search([index], "tin", 10)] == ["BUSY", "QUIET", "AB", "LONG"]


def test_pairs_in_dollars_come_before_others() -> None:
    """Turnover in lira is a larger number, but not more."""
    index = index_of(pair_listings({key: pair(key, 1e9) for key in ("FOO/TRY", "FOO/USDT")}, {}))
    assert [each.ticker for each in search([index], "foo", 10)] == ["FOO/USDT", "FOO/TRY"]


def test_banks_come_after_the_market() -> None:
    """Banks deal in the same things under the same names."""
    slugs = {each.bank for each in reference.doviz_instruments() if each.bank}
    banks = [each.split("-", 1)[0] in slugs for each in found("altın", 50)]
    assert banks == sorted(banks)
    assert any(banks)


def test_results_say_what_they_are() -> None:
    """A stock has an exchange if it is listed, Turkish instruments have a source."""
    listed = index_of(stock_listings([asset()], {"NEW": stock("NEW", name="New Apple")}, {}))
    assert search([listed], "apple", 10) == [
        SearchResult("stock", "AAPL", "Apple Inc.", "USD", "NASDAQ"),
        SearchResult("stock", "NEW", "New Apple", "USD"),
    ]
    assert search(indexes(), "isbank-eur", 1) == [
        SearchResult("doviz", "isbank-EUR", "Euro", "TRY", source="İş Bankası")
    ]
    assert search(indexes(), "eth/btc", 1) == [SearchResult("crypto", "ETH/BTC", "Ethereum", "BTC", "Test")]


@given(st.sampled_from(TICKERS), st.sampled_from([str.upper, str.lower, str.title]))
def test_every_symbol_finds_itself_first(ticker: str, spell: object) -> None:
    """In any case, and without punctuation, unless another symbol is the same without punctuation."""
    assert callable(spell)
    for text in (spell(ticker), spell(ticker).translate(str.maketrans("", "", "/-."))):
        assert ticker in found(text)


@given(st.text(max_size=64) | st.text(string.ascii_lowercase + " ", max_size=64), st.integers(1, 50))
def test_any_text_has_at_most_that_many_different_results(text: str, limit: int) -> None:
    tickers = found(text, limit)
    assert len(tickers) <= limit
    assert len(set(tickers)) == len(tickers)


@given(st.lists(st.sampled_from(["gram", "altın", "qnb"]), min_size=1, max_size=6))
def test_order_and_repetition_of_words_make_no_difference(words: list[str]) -> None:
    assert "qnb-gram-altin" in found(" ".join(words), 50)


def test_a_query_has_a_bounded_number_of_words() -> None:
    """Words after the eighth are ignored."""
    letters = ["gram", "altin", "g", "r", "a", "m", "l", "t", "i", "n"]
    assert len(set(letters)) > MAX_WORDS
    assert found(" ".join([*letters, "zzz"])) == found(" ".join(letters))


def test_aliases_name_instruments_that_exist() -> None:
    """Their places are before that of all others, and every currency and metal has an English name."""
    aliases = _aliases()
    assert all(alias.place < LAST_PLACE for alias in aliases.values())
    market = {each.symbol for each in reference.doviz_instruments() if each.bank is None}
    assert {symbol for kind, symbol in aliases if kind == "doviz"} == market
    bases = {each.base for each in reference.pairs()}
    assert {symbol for kind, symbol in aliases if kind == "crypto"} <= bases
