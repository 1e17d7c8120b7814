"""Rows of widgets, made of the JSON of the service's answers."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from quotecast.api.market.suggestions import turnover
from quotecast.api.routes.market.status import MarketStatus
from quotecast.feed.mirror import Mirror
from quotecast.market.codec import encode_json
from quotecast.market.groups import bank_of
from quotecast.market.quotes import DovizQuote

#: Options of one parameter: a dropdown has no pages.
MAX_OPTIONS: Final = 1000
#: Characters of an article in a feed before its text.
EXCERPT: Final = 200

#: Figures of a company's profile, with the text of each.
PROFILE: Final = {
    "marketCapitalization": "Market capitalization (millions)",
    "peTTM": "P/E (TTM)",
    "epsTTM": "EPS (TTM)",
    "dividendYieldIndicatedAnnual": "Dividend yield (%)",
    "netProfitMarginTTM": "Net margin (TTM, %)",
    "beta": "Beta",
    "52WeekHigh": "52-week high",
    "52WeekLow": "52-week low",
}

_decode: Final = msgspec.json.decode
#: Characters with a meaning in Markdown.
_MARKS: Final = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>&~=:])")


def _rows(make: Callable[[Any], Any]) -> Callable[[bytes], bytes]:
    def convert(body: bytes) -> bytes:
        return encode_json(make(_decode(body)))

    return convert


def _tiles(heatmap: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"sector": each["sector"], **stock} for each in heatmap["sectors"] for stock in each["stocks"]]


def _article(article: Mapping[str, Any]) -> dict[str, str]:
    text = article["summary"] or article["headline"]
    body = in_markdown(text)
    if article["url"]:
        body += f"\n\n[{in_markdown(article['source'] or 'Source')}](<{article['url']}>)"
    return {
        "title": article["headline"],
        "date": article["created_at"],
        "author": article["author"] or article["source"],
        "excerpt": text if len(text) <= EXCERPT else f"{text[:EXCERPT]}…",
        "body": body,
    }


def in_markdown(text: str) -> str:
    """Returns Markdown that shows a text as it is: an article cannot add links, images or HTML."""
    return _MARKS.sub(r"\\\1", text)


def _profile(metrics: Mapping[str, Any]) -> list[dict[str, str]]:
    """Returns the known figures of a profile, in its order."""
    known = metrics["metric"]
    return [
        {"label": label, "value": f"{known[name]:,}" if isinstance(known[name], float) else str(known[name])}
        for name, label in PROFILE.items()
        if known.get(name) is not None
    ]


#: Conversions of answers. Each is one function of the module, so that a shared body keeps its result.
GAINERS: Final = _rows(lambda movers: movers["gainers"])
LOSERS: Final = _rows(lambda movers: movers["losers"])
TILES: Final = _rows(_tiles)
ARTICLES: Final = _rows(lambda articles: [_article(each) for each in articles])
FIGURES: Final = _rows(
    lambda metrics: [{"metric": name, "value": value} for name, value in metrics["metric"].items()]
)
PROFILE_METRICS: Final = _rows(_profile)


def symbol_options(mirror: Mirror) -> bytes:
    """Returns the symbols of a feed as options, those with the greatest turnover first."""
    quotes = sorted(mirror.quotes().values(), key=lambda quote: (-turnover(quote), quote.key))
    return encode_json(
        [
            {"label": quote.key, "value": quote.key, "extraInfo": {"description": quote.name}}
            for quote in quotes[:MAX_OPTIONS]
        ]
    )


def group_options(mirror: Mirror) -> bytes:
    """Returns the groups of a feed as options, after one for everything."""
    groups = [{"label": name.partition(":")[2], "value": name} for name in sorted(mirror.members())]
    return encode_json([{"label": "All", "value": "all"}, *groups[: MAX_OPTIONS - 1]])


def instrument_options(mirror: Mirror) -> bytes:
    """Returns the instruments that banks deal in as options."""
    quotes = mirror.quotes()
    dealt = {
        key.partition("-")[2]
        for key, quote in quotes.items()
        if isinstance(quote, DovizQuote) and bank_of(quote, quotes)
    }
    return encode_json([{"label": quotes[each].name, "value": each} for each in sorted(dealt)][:MAX_OPTIONS])


def spread_rows(mirror: Mirror, instrument: str) -> bytes:
    """Returns the banks' prices of an instrument, the narrowest spread first."""
    quotes = mirror.quotes()
    rows: list[dict[str, Any]] = []
    for key, quote in quotes.items():
        if not isinstance(quote, DovizQuote) or key.partition("-")[2] != instrument:
            continue
        if bank := bank_of(quote, quotes):
            width = quote.selling - quote.buying
            rows.append(
                {
                    "bank": bank,
                    "symbol": quote.symbol,
                    "buying": quote.buying,
                    "selling": quote.selling,
                    "spread": round(width, 6),
                    "spreadPercent": round(100 * width / quote.selling, 4) if quote.selling else 0.0,
                    "currency": quote.currency,
                    "timestamp": quote.timestamp,
                }
            )
    return encode_json(sorted(rows, key=lambda row: (row["spreadPercent"], row["bank"])))


def status_metrics(status: MarketStatus) -> bytes:
    """Returns the state of the service and of each feed as metrics."""
    feeds = [
        {"label": feed.spec.name, "value": f"{each.state}, {each.symbols:,} symbols"}
        for feed, each in status.feeds.items()
    ]
    exchange = {"label": "New York", "value": status.session}
    return encode_json([{"label": "service", "value": status.status}, exchange, *feeds])
