"""How instruments are named, and the forms in which a client may write them."""

import re
from typing import Final

from quotecast.market.feeds import Feed

MAX_SYMBOL_LENGTH: Final = 40

CATEGORIES: Final = ("gold", "silver", "precious_metals", "currency", "index")

_SHAPES: Final = {
    Feed.STOCKS: re.compile(r"[A-Z0-9][A-Z0-9.\-]{0,11}"),
    Feed.CRYPTO: re.compile(r"[A-Z0-9]{1,20}/[A-Z0-9]{1,20}"),
    Feed.DOVIZ: re.compile(r"[a-z0-9]+(-[a-z0-9]+)*"),
}


def canonical(feed: Feed, text: str) -> str | None:
    """One spelling for all the ways to write a symbol: `AAPL`, `BTC/USDT` (for `btc-usdt` too), `akbank-usd`.

    Doviz symbols are answered in mixed case (`USD`, `gram-altin`, `akbank-USD`) but told apart without
    regard to it, so their one spelling is lower case. Returns None for text that cannot be a symbol.
    """
    text = text.strip()
    if not 0 < len(text) <= MAX_SYMBOL_LENGTH:
        return None
    spelled = _SPELLINGS[feed](text)
    return spelled if _SHAPES[feed].fullmatch(spelled) else None


def _pair(text: str) -> str:
    text = text.upper()
    return text if "/" in text else text.replace("-", "/", 1)


_SPELLINGS: Final = {Feed.STOCKS: str.upper, Feed.CRYPTO: _pair, Feed.DOVIZ: str.lower}
