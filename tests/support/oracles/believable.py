"""What every quote of any feed must be: a price above zero, its sides in order, no time in the future."""

from datetime import datetime
from math import isfinite
from typing import Any, Final

#: Most that a price may move within one update of a simulated market.
_GREATEST_FACTOR: Final = 5.0
_MOST_AHEAD_SECONDS: Final = 60.0


def unbelievable(key: str, quote: dict[str, Any], before: float | None, now: float) -> list[str]:
    """Returns the problems of a quote received at a Unix time; `before` is the price before it."""
    price, problems = quote["price"], []
    if not isinstance(price, float | int) or not isfinite(price) or price <= 0:
        return [f"{key}: the price {price!r}"]
    if before and not before / _GREATEST_FACTOR < price < before * _GREATEST_FACTOR:
        problems.append(f"{key}: the price {price} after {before}")
    for low, high in (("bid", "ask"), ("buying", "selling")):
        if quote.get(low) is not None and quote.get(high) is not None and quote[low] > quote[high]:
            problems.append(f"{key}: {low} {quote[low]} above {high} {quote[high]}")
    ahead = datetime.fromisoformat(quote["timestamp"]).timestamp() - now if quote.get("timestamp") else 0.0
    if ahead > _MOST_AHEAD_SECONDS:
        problems.append(f"{key}: the time {quote['timestamp']} is in the future")
    return problems
