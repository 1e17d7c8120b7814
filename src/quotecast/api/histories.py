"""Bars from the first of several upstreams that has them."""

from collections.abc import Sequence
from datetime import datetime

from quotecast.errors import SymbolNotFound, UpstreamError
from quotecast.market.bars import Bar, Interval
from quotecast.providers.base import HistoryProvider


class FirstHistory:
    """A HistoryProvider that asks others in turn."""

    def __init__(self, histories: Sequence[HistoryProvider]) -> None:
        self._histories = histories
        self.name = ",".join(history.name for history in histories)

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        """As HistoryProvider promises; SymbolNotFound only if nobody failed who might know the symbol."""
        failure: UpstreamError | None = None
        for history in self._histories:
            try:
                return await history.bars(symbol, interval, start, end)
            except UpstreamError as error:
                failure = failure or error
            except SymbolNotFound:
                continue
        raise failure or SymbolNotFound
