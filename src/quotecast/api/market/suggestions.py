"""Proposals for an unknown symbol: another spelling, another feed's instrument, or a typing mistake."""

from collections.abc import Iterator
from string import ascii_uppercase, digits
from typing import Final

from quotecast.api.market.services import MarketServices
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.folding import fold
from quotecast.market.instruments import MAX_SYMBOL_LENGTH
from quotecast.market.quotes import DovizQuote, Quote
from quotecast.market.vocabulary import edits

#: Letters of the shortest symbol in which one typing mistake is forgiven.
_LEAST_LETTERS: Final = 3
#: A longer text has too many neighbours: a thousand take a millisecond.
_MOST_LETTERS: Final = 12
_LETTERS: Final = ascii_uppercase + digits
#: Quote assets of the best-known pairs.
_TARGETS: Final = ("USDT", "USD", "USDC", "EUR", "TRY", "BTC")
_ALPHABETS: Final = {
    Feed.STOCKS: "Symbols of stocks have the letters A to Z, digits, dots and hyphens only.",
    Feed.CRYPTO: "Symbols of pairs have the letters A to Z and digits only.",
    Feed.DOVIZ: "Symbols of currencies and metals have the letters a to z, digits and hyphens only.",
}
_NOUNS: Final = {Feed.STOCKS: "stock", Feed.CRYPTO: "pair", Feed.DOVIZ: "metal or currency"}


def suggest(services: MarketServices, feed: Feed, text: str) -> str | None:
    """Returns a sentence about a symbol that a feed does not have; None without an idea."""
    text = text.strip()
    if not 0 < len(text) <= MAX_SYMBOL_LENGTH:
        return None
    mirror = services.mirrors[feed]
    others = [services.mirrors[other] for other in services.configured() if other is not feed]
    letters = "".join(filter(str.isalnum, fold(text))).upper()
    if found := _spelled(mirror, letters):
        return f"Did you mean {found.key}?"
    for other in others:
        noun, place = _NOUNS[other.feed], f"in the feed {other.feed} (/api/{other.feed.spec.name})"
        if entry := other.find(text):
            return f"{entry.key} is a {noun}, {place}."
        if found := _spelled(other, letters):
            return f"Did you mean the {noun} {found.key}, {place}?"
    return _misspelt(mirror, text) or (None if text.isascii() else _ALPHABETS[feed])


def _misspelt(mirror: Mirror, text: str) -> str | None:
    if not _LEAST_LETTERS <= len(text) <= _MOST_LETTERS:
        return None
    found_by_edit = ((edit, mirror.find(edit)) for edit in edits(text.upper(), _LETTERS))
    # Nobody means a former symbol by mistake.
    near = {entry.key: entry for edit, entry in found_by_edit if entry and entry.key.upper() == edit}
    found = max(near.values(), key=lambda entry: (turnover(entry.quote), entry.key), default=None)
    return f"Did you mean {found.key}?" if found else None


def _spelled(mirror: Mirror, letters: str) -> QuoteEntry | None:
    """Returns the instrument with those letters, whatever else its symbol has."""
    return next(filter(None, map(mirror.find, _spellings(mirror, letters))), None)


def _spellings(mirror: Mirror, letters: str) -> Iterator[str]:
    """Yields symbols of the letters, the best known first: `BTCUSDT` is a pair, `altin` gold."""
    match mirror.feed:
        case Feed.CRYPTO:
            yield from (f"{letters[:at]}/{letters[at:]}" for at in range(2, len(letters) - 1))
            yield from (f"{letters}/{target}" for target in _TARGETS)
        case Feed.DOVIZ:
            yield from (
                key
                for key in mirror.quotes()
                if letters in {*key.upper().split("-"), key.upper().replace("-", "")}
            )
        case Feed.STOCKS:
            yield letters
            yield from (f"{letters[:at]}.{letters[at:]}" for at in range(2, len(letters)))


def turnover(quote: Quote | None) -> float:
    """Returns price times volume in the quote's currency; 0 without a volume, as of currencies and metals."""
    if quote is None or isinstance(quote, DovizQuote):
        return 0.0
    return quote.price * float(quote.volume or 0)
