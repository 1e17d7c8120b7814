"""Canonical spelling of instruments' symbols."""

from typing import Final

from quotecast.market.feeds import Feed

MAX_SYMBOL_LENGTH: Final = 40

CATEGORIES: Final = ("gold", "silver", "precious_metals", "currency", "index")


def canonical_symbol(feed: Feed, text: str) -> str | None:
    """Returns the canonical spelling of a symbol: `AAPL`, `BTC/USDT` (for `btc-usdt` too), `akbank-usd`.

    Answers show doviz symbols in mixed case (`USD`, `gram-altin`, `akbank-USD`), but comparisons ignore case,
    so their canonical spelling is lower case. Returns None for text that cannot be a symbol.
    """
    text = text.strip()
    if not 0 < len(text) <= MAX_SYMBOL_LENGTH:
        return None
    spelled = feed.spec.spell(text)
    return spelled if feed.spec.pattern.fullmatch(spelled) else None
