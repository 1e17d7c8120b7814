"""Rows of Alpaca's answers and messages; a row's `t` is a moment, which JSON has as text."""

from datetime import UTC, datetime
from uuid import UUID

from quotecast.market.news import Article
from quotecast.simulation.market.noise import key_of
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Candle, Market, Price, utc


def number_of(value: float) -> float | str:
    """Returns a number as Alpaca sends it: without the decimal point of a whole one."""
    if value != value:  # noqa: PLR0124 (the fastest test for NaN)
        return "NaN"
    return int(value) if value == int(value) else value


def text(moment: datetime, digits: int = 0) -> str:
    """Returns RFC 3339 in UTC, with that many digits of a second."""
    fraction = f".{moment.microsecond:06}{'789':<03}"[: digits + 1] if digits else ""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z"


def row_of(
    time: str | datetime, prices: tuple[float, float, float, float], volume: float, trades: int = 3
) -> Row:
    """Returns a bar with these prices: open, high, low, close."""
    opened, high, low, close = map(number_of, prices)
    return {
        "t": time, "o": opened, "h": high, "l": low, "c": close,
        "v": number_of(volume), "n": trades, "vw": close,
    }  # fmt: skip


def bar_of(candle: Candle, decimals: int) -> Row:
    """Returns the bar of a candle; its average price is the mean of its four prices."""
    prices = candle.open, candle.high, candle.low, candle.close
    average = number_of(round(sum(prices) / 4, decimals + 2))
    volume = round(candle.volume, 8)
    return row_of(utc(candle.start), prices, volume, candle.trades) | {"vw": average}


def stock_trade(
    time: str | datetime, price: float | str, size: float | str, *, number: int, tape: str = "C"
) -> Row:
    """Returns a stock's trade."""
    return {"t": time, "x": "V", "p": price, "s": size, "c": ["@"], "i": number, "z": tape}


def trade_of(price: Price, tape: str) -> Row:
    """Returns a stock's trade in the market."""
    amounts = number_of(price.price), number_of(price.size)
    return stock_trade(utc(price.time), *amounts, number=price.number, tape=tape)


def quote_of(price: Price, tape: str) -> Row:
    """Returns a stock's best bid and ask; sizes are in round lots."""
    return {
        "t": utc(price.time), "ax": "V", "ap": number_of(price.ask), "as": 1 + price.number % 7,
        "bx": "V", "bp": number_of(price.bid), "bs": 1 + price.number % 5, "c": ["R"], "z": tape,
    }  # fmt: skip


def pair_trade_of(price: Price) -> Row:
    """Returns a pair's trade; `tks` is the side of the taker."""
    return {
        "t": utc(price.time), "p": number_of(price.price), "s": number_of(price.size),
        "tks": "BS"[price.number % 2], "i": price.number,
    }  # fmt: skip


def pair_quote_of(price: Price) -> Row:
    """Returns a pair's best bid and ask."""
    return {
        "t": utc(price.time), "bp": number_of(price.bid), "bs": number_of(price.size),
        "ap": number_of(price.ask), "as": number_of(price.size),
    }  # fmt: skip


def book_of(price: Price) -> Row:
    """Returns a pair's order book: five levels of each side, one spread apart."""
    step = price.ask - price.bid
    sides = {
        name: [
            {
                "p": number_of(round(best + sign * step * level, 8)),
                "s": number_of(round(price.size * (level + 1), 8)),
            }
            for level in range(5)
        ]
        for name, best, sign in (("b", price.bid, -1), ("a", price.ask, 1))
    }
    return {"t": utc(price.time), **sides}


def status_of(moment: int, tape: str, *, is_halted: bool) -> Row:
    """Returns a stock's halt or its end, with the codes of tape C."""
    code, meaning = ("H", "Trading Halt") if is_halted else ("T", "Trading Resumption")
    reason = ("T12", "Halt News Pending") if is_halted else ("", "")
    return {
        "sc": code, "sm": meaning, "rc": reason[0], "rm": reason[1], "z": tape, "t": utc(moment),
    }  # fmt: skip


def asset(ticker: str, name: str = "Example Inc. Common Stock", **changes: object) -> Row:
    """Returns a stock that the broker offers."""
    return {
        "id": "00000000-0000-4000-8000-000000000001", "class": "us_equity", "exchange": "NASDAQ",
        "symbol": ticker, "name": name, "status": "active", "tradable": True, "marginable": True,
        "shortable": True, "easy_to_borrow": True, "fractionable": True, "attributes": ["has_options"],
        "cusip": None, "maintenance_margin_requirement": 30, "margin_requirement_long": "30", **changes,
    }  # fmt: skip


def asset_row(market: Market, symbol: str) -> Row:
    """Returns a stock or a pair of the market."""
    number = str(UUID(bytes=key_of(market.seed, "alpaca", symbol), version=4))
    if stock := market.stocks.get(symbol):
        return asset(symbol, stock.name, exchange=stock.exchange, id=number)
    pair, decimals = market.pairs[symbol], market.decimals(symbol)
    return asset(
        symbol,
        f"{pair.name} / {pair.quote}",
        **{"class": "crypto"},
        id=number,
        exchange="CRYPTO",
        marginable=False,
        shortable=False,
        easy_to_borrow=False,
        attributes=[],
        maintenance_margin_requirement=100,
        margin_requirement_long="100",
        min_order_size="0.0001",
        min_trade_increment="0.0001",
        price_increment=f"{10.0**-decimals:.{decimals}f}",
    )


def story_of(article: Article) -> Row:
    """Returns an article of the market."""
    return {
        "id": int(article.id),
        "headline": article.headline,
        "author": article.author,
        "created_at": article.created_at,
        "updated_at": article.updated_at,
        "summary": article.summary,
        "content": f"<p>{article.summary}</p>",
        "url": article.url or "",
        "images": [{"size": image.size, "url": image.url} for image in article.images],
        "symbols": list(article.symbols),
        "source": "simulator",
    }
