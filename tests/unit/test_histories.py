"""Bars from the first of several upstreams that has them."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from quotecast.api.histories import FirstHistory
from quotecast.errors import SymbolNotFound, UpstreamError
from quotecast.market.bars import Bar, Interval

START, END = datetime(2026, 11, 19, tzinfo=UTC), datetime(2026, 11, 20, tzinfo=UTC)
BARS = [Bar("2026-11-19T00:00:00Z", 1.0, 2.0, 0.5, 1.5, 10.0)]
UNKNOWN = SymbolNotFound()
AWAY = UpstreamError("away", retry_after=7)


class Upstream:
    """Answers the same each time."""

    name = "upstream"

    def __init__(self, answer: Sequence[Bar] | Exception) -> None:
        self._answer = answer
        self.asked = 0

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        assert (symbol, interval, start, end) == ("BTC/USD", "1h", START, END)
        self.asked += 1
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


async def ask(*answers: Sequence[Bar] | Exception) -> Sequence[Bar]:
    return await FirstHistory(list(map(Upstream, answers))).bars("BTC/USD", "1h", START, END)


@pytest.mark.parametrize("before", [[], [UNKNOWN], [AWAY], [AWAY, UNKNOWN]])
async def test_the_first_that_has_bars_tells_them(before: list[Exception]) -> None:
    """No bars at all are an answer too; who stands behind is not asked."""
    last = Upstream(UNKNOWN)
    for bars in (BARS, []):
        first = FirstHistory([*map(Upstream, before), Upstream(bars), last])
        assert await first.bars("BTC/USD", "1h", START, END) == bars
    assert last.asked == 0


async def test_a_symbol_is_unknown_when_nobody_knows_it() -> None:
    with pytest.raises(SymbolNotFound):
        await ask(UNKNOWN, UNKNOWN)


@pytest.mark.parametrize("answers", [[AWAY, UNKNOWN], [UNKNOWN, AWAY], [AWAY, UpstreamError("later")]])
async def test_who_is_away_might_have_known_it(answers: list[Exception]) -> None:
    """The first failure is told."""
    with pytest.raises(UpstreamError):
        await ask(*answers)
