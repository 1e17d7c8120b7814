"""Quotes in the fields of TradingView's `QuoteData`."""

from typing import Final, Literal

from msgspec import UNSET, Struct, UnsetType

from quotecast.api.integrations.udf.instruments import find_instrument
from quotecast.api.market.selection import MAX_SYMBOLS
from quotecast.api.market.services import Services
from quotecast.errors import InvalidValue, NoData, SymbolNotFound
from quotecast.market.quotes import CryptoQuote, DovizQuote, StockQuote


class QuoteValues(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The values of a quote; an unknown one is absent. `chp` is in percent."""

    lp: float
    ch: float | UnsetType = UNSET
    chp: float | UnsetType = UNSET
    short_name: str
    exchange: str
    description: str
    ask: float | UnsetType = UNSET
    bid: float | UnsetType = UNSET
    open_price: float | UnsetType = UNSET
    high_price: float | UnsetType = UNSET
    low_price: float | UnsetType = UNSET
    prev_close_price: float | UnsetType = UNSET
    volume: float | UnsetType = UNSET


class KnownQuote(Struct, frozen=True, tag_field="s", tag="ok"):
    """The quote of a symbol; `n` is the name as the request has it."""

    n: str
    v: QuoteValues


class UnknownQuote(Struct, frozen=True, tag_field="s", tag="error"):
    """A symbol without a quote."""

    n: str
    v: dict[str, float]


class ChartQuotes(Struct, frozen=True, kw_only=True):
    """The quotes of a request, in its order."""

    s: Literal["ok"] = "ok"
    d: list[KnownQuote | UnknownQuote]


EXAMPLE_QUOTES: Final = ChartQuotes(
    d=[
        KnownQuote(
            "AAPL",
            QuoteValues(
                lp=189.84,
                ch=1.22,
                chp=0.65,
                short_name="AAPL",
                exchange="NASDAQ",
                description="Apple Inc.",
                open_price=188.9,
                high_price=190.32,
                low_price=188.19,
                prev_close_price=188.62,
                volume=48425696.0,
            ),
        )
    ]
)


def names_of(text: str) -> list[str]:
    """Returns the distinct names of a comma-separated list. Raises InvalidValue for none or too many."""
    names = [*dict.fromkeys(name.strip() for name in text.split(",") if name.strip())]
    if not 0 < len(names) <= MAX_SYMBOLS:
        raise InvalidValue("symbols", f"Name 1 to {MAX_SYMBOLS} symbols")
    return names


def chart_quote(services: Services, name: str) -> KnownQuote | UnknownQuote:
    """Returns the quote of a name; an unknown one has an item too."""
    try:
        instrument = find_instrument(services, name)
    except (SymbolNotFound, NoData):
        return UnknownQuote(name, {})
    quote = instrument.quote
    values = QuoteValues(
        lp=quote.price,
        ch=_known(quote.change),
        chp=_known(quote.change_percent),
        short_name=quote.key,
        exchange=instrument.exchange,
        description=quote.name,
        open_price=_known(quote.open),
        high_price=_known(quote.high),
        low_price=_known(quote.low),
        **_others(quote),
    )
    return KnownQuote(name, values)


def _others(quote: StockQuote | CryptoQuote | DovizQuote) -> dict[str, float | UnsetType]:
    match quote:
        case StockQuote():
            volume = None if quote.volume is None else float(quote.volume)
            return {"prev_close_price": _known(quote.previous_close), "volume": _known(volume)}
        case CryptoQuote():
            return {"bid": _known(quote.bid), "ask": _known(quote.ask), "volume": _known(quote.volume)}
        case DovizQuote():
            # A dealer buys at its bid and sells at its ask.
            return {
                "bid": quote.buying,
                "ask": quote.selling,
                "prev_close_price": _known(quote.previous_close),
            }


def _known(value: float | None) -> float | UnsetType:
    return UNSET if value is None else value
