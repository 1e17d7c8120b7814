"""Which of Binance's pairs are followed."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from fakes.binance_rows import listing_row, statistics
from quotecast.providers.binance import listing


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


def test_listing_holds_what_trades() -> None:
    """Neither what is halted or no spot pair, nor what no client could name, nor what is no row."""
    rows = [
        listing_row("BTC"),
        listing_row("OLD", status="BREAK"),
        listing_row("LEVERAGED", isSpotTradingAllowed=False),
        listing_row("币安人生"),
        {"symbol": 7},
    ]
    assert listing.tradable_pairs(map(raw, rows)) == {"BTCUSDT": "BTC/USDT"}


def test_best_known_are_those_of_our_table_and_of_the_greatest_turnover() -> None:
    """In one currency, for turnovers in several do not compare."""
    offered = {f"{base}USDT": f"{base}/USDT" for base in ("BTC", *(f"C{n}" for n in range(300)))}
    rows = [raw(statistics(symbol, quoteVolume=str(at))) for at, symbol in enumerate(offered)]
    rows += [raw(statistics("BTCTRY", quoteVolume="99999999")), raw({"symbol": 7})]
    chosen = listing.best_known(offered | {"BTCTRY": "BTC/TRY"}, rows)
    assert set(chosen) == {"BTCUSDT", *(f"C{n}USDT" for n in range(100, 300))}


def test_what_tether_costs_is_followed_too() -> None:
    """Without it nothing that is priced in tethers has a value in any other currency."""
    offered = {"BTCUSDT": "BTC/USDT", "USDTTRY": "USDT/TRY", "BTCTRY": "BTC/TRY"}
    assert set(listing.best_known(offered, [])) == {"BTCUSDT", "USDTTRY"}


@pytest.mark.parametrize("text", ["BTC/USDT", "btc-usdt", "btc/usdt", "BtcUsdt", " btc_usdt "])
def test_pair_is_wished_for_in_any_spelling(text: str) -> None:
    """They all mean one symbol."""
    assert listing.symbol_of(text) == "BTCUSDT"
