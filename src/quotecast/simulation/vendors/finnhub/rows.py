"""Finnhub's rows.

Source: Finnhub documentation, "API reference", and its OpenAPI file.
"""

from collections.abc import Sequence
from datetime import datetime
from math import isnan
from typing import Any, Final

import msgspec
from msgspec import Struct

from quotecast.market.financials import EarningsEvent
from quotecast.market.news import Article
from quotecast.market.reference import Pair, Stock
from quotecast.simulation.market.actions import Dividend, old_and_new
from quotecast.simulation.market.hours import new_york_date
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Candle, Price

#: Fields of our records that Finnhub's lack.
_OURS: Final = ("currency", "homeSymbol", "abroad")
#: Operating codes of exchanges.
_EXCHANGE_CODES: Final = {"NASDAQ": "XNAS", "NYSE": "XNYS"}
_EXCHANGES: Final = {"NASDAQ": "NASDAQ NMS - GLOBAL MARKET", "NYSE": "NEW YORK STOCK EXCHANGE, INC."}
#: Answer of `quote` for an unknown symbol.
NO_QUOTE: Final = {"c": 0, "d": None, "dp": None, "h": 0, "l": 0, "o": 0, "pc": 0, "t": 0}


def record_row(record: Struct) -> Row:
    """Returns a record of company data."""
    row: Row = msgspec.to_builtins(record)
    return {name: value for name, value in row.items() if name not in _OURS}


def quote_row(price: Price) -> Row:
    """Returns the answer of `quote`."""
    change = price.price - price.previous
    return {
        "c": price.price,
        "d": round(change, 4),
        "dp": round(change / price.previous * 100, 4),
        "h": price.high,
        "l": price.low,
        "o": price.open,
        "pc": price.previous,
        "t": price.time // 1000,
    }


def profile_row(stock: Stock, price: float) -> Row:
    """Returns the profile of a stock's company at a price."""
    return {
        "country": "US",
        "currency": "USD",
        "estimateCurrency": "USD",
        "exchange": _EXCHANGES.get(stock.exchange, stock.exchange),
        "finnhubIndustry": stock.industry,
        "ipo": "1995-01-03",
        "logo": f"https://example.com/logos/{stock.ticker}.png",
        "marketCapitalization": round(stock.shares * price / 1_000_000, 4),
        "name": stock.name,
        "phone": "10000000000",
        "shareOutstanding": round(stock.shares / 1_000_000, 4),
        "ticker": stock.ticker,
        "weburl": f"https://example.com/{stock.ticker}",
    }


def filing_row(event: EarningsEvent) -> Row:
    """Returns a filing of a quarter: the fourth one comes with the year's report."""
    form, number = "10-K" if event.quarter == 4 else "10-Q", f"{event.year}-{event.quarter}"
    page = f"https://example.com/filings/{event.symbol}/{number}"
    return {
        "accessNumber": f"{event.symbol}-{number}",
        "symbol": event.symbol,
        "cik": "",
        "form": form,
        "filedDate": f"{event.date} 00:00:00",
        "acceptedDate": f"{event.date} 16:30:00",
        "reportUrl": f"{page}/report",
        "filingUrl": page,
    }


def split_row(symbol: str, moment: int, ratio: float) -> Row:
    """Returns a split that begins at a moment in Unix milliseconds."""
    old, new = old_and_new(ratio)
    return {"symbol": symbol, "date": f"{new_york_date(moment)}", "fromFactor": old, "toFactor": new}


def dividend_row(symbol: str, dividend: Dividend) -> Row:
    """Returns a row of `stock/dividend`."""
    return {
        "symbol": symbol,
        "date": f"{dividend.ex_day}",
        "amount": dividend.amount,
        "adjustedAmount": dividend.amount,
        "payDate": f"{dividend.payable_day}",
        "recordDate": f"{dividend.ex_day}",
        "declarationDate": "",
        "currency": "USD",
        "freq": "4",
    }


def symbol_row(stock: Stock) -> Row:
    """Returns a row of `stock/symbol`."""
    return {
        "currency": "USD",
        "description": stock.name.upper(),
        "displaySymbol": stock.ticker,
        "figi": "",
        "isin": None,
        "mic": _EXCHANGE_CODES.get(stock.exchange, "XNYS"),
        "shareClassFIGI": "",
        "symbol": stock.ticker,
        "symbol2": "",
        "type": "Common Stock",
    }


def pair_row(symbol: str, pair: Pair) -> Row:
    """Returns a row of `crypto/symbol`."""
    return {
        "description": f"Binance {pair.base}/{pair.quote}",
        "displaySymbol": f"{pair.base}/{pair.quote}",
        "symbol": symbol,
    }


def found_row(stock: Stock) -> Row:
    """Returns a row of `search`."""
    return {
        "description": stock.name.upper(),
        "displaySymbol": stock.ticker,
        "symbol": stock.ticker,
        "type": "Common Stock",
    }


def candles_answer(candles: Sequence[Candle]) -> Row:
    """Returns the answer of `stock/candle`, a list of each figure."""
    if not candles:
        return {"s": "no_data"}
    return {
        "c": [each.close for each in candles],
        "h": [each.high for each in candles],
        "l": [each.low for each in candles],
        "o": [each.open for each in candles],
        "s": "ok",
        "t": [each.start // 1000 for each in candles],
        "v": [round(each.volume, 8) for each in candles],
    }


def news_row(article: Article, category: str, related: str = "") -> Row:
    """Returns a row of `news`, or with a related symbol of `company-news`."""
    return {
        "category": category,
        "datetime": int(datetime.fromisoformat(article.created_at).timestamp()),
        "headline": article.headline,
        "id": int(article.id),
        "image": article.images[-1].url if article.images else "",
        "related": related,
        "source": article.source,
        "summary": article.summary,
        "url": article.url or "",
    }


def trade_row(symbol: str, price: Price) -> Row:
    """Returns a trade of the stream; NaN becomes text, because JSON has no such number."""
    value: Any = "NaN" if isnan(price.price) else price.price
    conditions = None if ":" in symbol else ["1"]
    return {"c": conditions, "p": value, "s": symbol, "t": price.time, "v": price.size}
