"""Names of instruments and companies, known and invented."""

import pytest

from quotecast.api.market import names
from quotecast.api.market.names import Names
from quotecast.bus.base import Batch
from quotecast.feed.documents import Documents
from quotecast.market.feeds import Feed
from support.made.documents import asset, assets_of
from support.made.factories import full_mirrors


def of_documents(*tickers: str) -> Names:
    documents = Documents()
    documents.assets.take(assets_of(*(asset(ticker) for ticker in tickers)))
    return Names(full_mirrors(), documents)


@pytest.mark.parametrize(
    ("group", "text", "spelled"),
    [
        ("market", "brk.b", "BRK.B"),
        ("crypto", "btc-usdt", "BTC/USDT"),
        ("doviz", "AKBANK-usd", "akbank-USD"),
        ("financials", "aapl", "AAPL"),
        ("financials", "nvda", "NVDA"),
        ("market", "NVDA", None),
        ("crypto", "AAPL", None),
        ("doviz", "NOSUCH", None),
        ("financials", "NOSUCH", None),
        ("financials", "no symbol", None),
        ("portfolio", "64f0c0ffee", None),
        ("watchlist", "AAPL", None),
    ],
)
def test_known_name_has_one_spelling_and_others_none(group: str, text: str, spelled: str | None) -> None:
    """A symbol needs a quote, a company may also be an asset, and account routes have no names."""
    assert of_documents("NVDA").find(group, text) == spelled


def test_company_that_the_upstream_answered_for_is_known() -> None:
    """A company is known once the upstream has answered for it."""
    known = of_documents("NVDA")
    assert not known.has_company("ROGUE")
    known.remember_company("ROGUE")
    assert known.find("financials", "rogue") == "ROGUE"
    assert known.has_company("ROGUE")
    assert not known.is_listed("ROGUE")


def test_answered_companies_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest of too many answered companies is forgotten."""
    monkeypatch.setattr(names, "MAX_COMPANIES", 2)
    known = of_documents("NVDA")
    for symbol in ("A", "B", "A", "C"):
        known.remember_company(symbol)
    assert [known.find("financials", symbol) for symbol in "ABC"] == ["A", None, "C"]


def test_symbol_that_is_gone_is_unknown() -> None:
    """A symbol without a quote is unknown again."""
    mirrors = full_mirrors()
    known = Names(mirrors, Documents())
    mirror = mirrors[Feed.STOCKS]
    assert known.find("market", "AAPL") == "AAPL"
    mirror.apply(Batch(feed=Feed.STOCKS, epoch=mirror.epoch, seq=mirror.mark.seq + 1, removed=["AAPL"]))
    assert known.find("market", "AAPL") is None
