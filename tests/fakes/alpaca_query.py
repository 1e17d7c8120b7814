"""Query parameters of the fake Alpaca: symbols, tape, times, page size and page token."""

import base64
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

_WELL_FORMED: Final = re.compile(r"[A-Z]+(\.[A-Z]+)?")


class BadQuery(Exception):
    """A query parameter that Alpaca rejects."""


def tickers_of(query: Mapping[str, str]) -> list[str]:
    tickers = query.get("symbols", "").split(",")
    for ticker in tickers:
        if not _WELL_FORMED.fullmatch(ticker):
            raise BadQuery(f"invalid symbol: {ticker}")
    return tickers


def feed_of(query: Mapping[str, str], default: str) -> str:
    feed = query.get("feed", default)
    if feed not in {"iex", "sip"}:
        raise BadQuery(f"invalid feed: {feed}")
    return feed


def moment_of(query: Mapping[str, str], name: str, default: datetime) -> datetime:
    try:
        moment = datetime.fromisoformat(query[name]) if name in query else default
    except ValueError as error:
        raise BadQuery(f"invalid {name}") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def limit_of(query: Mapping[str, str], default: int, most: int) -> int:
    limit = query.get("limit", str(default))
    if not limit.isdecimal() or not 1 <= int(limit) <= most:
        raise BadQuery("invalid limit")
    return int(limit)


def page_token(offset: int) -> str:
    return base64.urlsafe_b64encode(str(offset).encode()).decode()


def offset_of(query: Mapping[str, str]) -> int:
    """Returns the index at which a page begins; a literal `null` is not a token."""
    try:
        return int(base64.urlsafe_b64decode(query["page_token"])) if "page_token" in query else 0
    except ValueError as error:
        raise BadQuery("invalid page_token") from error
