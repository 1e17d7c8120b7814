"""The paths of Coinbase Exchange's REST that need no key.

Source of the format: Coinbase Exchange documentation, "Products", "Currencies", "Pagination".
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Final

from quotecast.simulation.vendors.coinbase.book import book_of, orders
from quotecast.simulation.vendors.coinbase.errors import (
    DELISTED,
    NOT_FOUND,
    TOO_FINE,
    UNAUTHORIZED,
    bad_request,
)
from quotecast.simulation.vendors.coinbase.rows import (
    all_stats_row,
    iso_time,
    stats_row,
    ticker_row,
    trade_row,
)
from quotecast.simulation.vendors.coinbase.source import GRANULARITIES, MarketSource
from quotecast.simulation.vendors.http import Answer, HttpRequest, Row
from quotecast.simulation.vendors.market import Price

MOST_CANDLES: Final = 300
MOST_TRADES: Final = 1000
#: Candles of a spark line: those of the last day.
_SPARKS: Final = 24
_HOUR: Final = 3600

Query = Mapping[str, str]


class CoinbaseRest:
    """Answers paths; `sequence` returns the newest number of a product's feed."""

    def __init__(self, source: MarketSource, sequence: Callable[[str], int]) -> None:
        self._source = source
        self._sequence = sequence
        self._of_products: Mapping[str, Callable[[str, Query], Answer]] = {
            "ticker": lambda product, _: Answer.of(
                ticker_row(source.price(product), source.decimals(product))
            ),
            "stats": lambda product, _: Answer.of(stats_row(*self._figures(product))),
            "candles": self._candles,
            "trades": self._trades,
            "book": self._book,
        }

    def answer(self, request: HttpRequest) -> Answer:  # noqa: PLR0911 -- a table of paths
        """Returns the answer of a path."""
        match request.path.split("/")[1:]:
            case [name]:
                return self._top(name)
            case ["currencies", code]:
                return _one_of(self._source.currencies(), code)
            case ["products", "stats"]:
                return Answer.of({each: all_stats_row(*self._figures(each)) for each in self._trading()})
            case ["products", "spark-lines"]:
                return Answer.of({each: self._spark_line(each) for each in self._trading()})
            case ["products", product]:
                return _one_of(self._source.products(), product)
            case ["products", product, part] if part in self._of_products:
                row = self._source.product(product)
                if row is None:
                    return NOT_FOUND
                if row.get("status") == "delisted" and part != "candles":
                    return DELISTED
                return self._of_products[part](product, request.query)
        return NOT_FOUND

    def _top(self, name: str) -> Answer:
        source = self._source
        if name == "products":
            return Answer.of(source.products())
        if name == "currencies":
            return Answer.of(source.currencies())
        if name == "time":
            moment = source.clock.moment()
            return Answer.of({"iso": f"{iso_time(moment)[:-4]}Z", "epoch": moment / 1000})
        return NOT_FOUND

    def _trading(self) -> list[str]:
        return [row["id"] for row in self._source.products() if row["status"] != "delisted"]

    def _figures(self, product: str) -> tuple[Price, int, float]:
        """Returns a product's price with its decimals, and the volume of 30 days."""
        source = self._source
        return source.price(product), source.decimals(product), source.month_volume(product)

    def _spark_line(self, product: str) -> list[tuple[float, ...]]:
        end = self._source.clock.moment() // 1000
        start = end // _HOUR * _HOUR - (_SPARKS - 1) * _HOUR
        return [row[:-1] for row in self._source.candles(product, _HOUR, start, end)]

    def _candles(self, product: str, query: Query) -> Answer:
        text = query.get("granularity", "60")
        granularity = int(text) if text.isdecimal() else 0
        if granularity not in GRANULARITIES:
            return bad_request("Unsupported granularity")
        if "start" in query and "end" in query:
            try:
                start, end = _seconds(query["start"]), _seconds(query["end"])
            except (ValueError, OverflowError):
                return bad_request("Invalid start or end")
        else:
            end = self._source.clock.moment() // 1000
            start = end // granularity * granularity - (MOST_CANDLES - 1) * granularity
        if (end - start) // granularity > MOST_CANDLES:
            return bad_request(TOO_FINE)
        return Answer.of(self._source.candles(product, granularity, start, end))

    def _trades(self, product: str, query: Query) -> Answer:
        """Returns a page, newest first: `after` is for older trades, `before` for newer ones."""
        try:
            limit = int(query.get("limit", MOST_TRADES))
            older_than = int(query["after"]) if "after" in query else None
            newer_than = int(query.get("before", 0))
        except ValueError:
            return bad_request("Invalid pagination parameters")
        if not 1 <= limit <= MOST_TRADES:
            return bad_request("Invalid limit")
        source, decimals = self._source, self._source.decimals(product)
        trades = source.trades(product, older_than, newer_than)
        rows = [trade_row(trade, decimals) for trade in islice(trades, limit)]
        if not rows:
            return Answer.of([])
        newest, oldest = rows[0]["trade_id"], rows[-1]["trade_id"]
        return Answer.of(rows, CB_BEFORE=str(newest), CB_AFTER=str(oldest))

    def _book(self, product: str, query: Query) -> Answer:
        level = query.get("level", "1")
        if level == "3":
            return UNAUTHORIZED
        if level not in ("1", "2"):
            return bad_request("Invalid level")
        source = self._source
        book = book_of(source.price(product), source.decimals(product))
        count = 1 if level == "1" else None
        bids, asks = (
            [(price, size, orders(price)) for price, size in islice(side.items(), count)] for side in book
        )
        sequence, time = self._sequence(product), iso_time(source.clock.moment())
        return Answer.of(
            {
                "bids": bids,
                "asks": asks,
                "sequence": sequence,
                "auction_mode": False,
                "auction": None,
                "time": time,
            }
        )


def _one_of(rows: Sequence[Row], name: str) -> Answer:
    return next((Answer.of(row) for row in rows if row["id"] == name), NOT_FOUND)


def _seconds(text: str) -> int:
    """Returns Unix seconds of an ISO time, or of Unix seconds. Raises ValueError for other text."""
    return int(text) if text.isdecimal() else int(datetime.fromisoformat(text).timestamp())
