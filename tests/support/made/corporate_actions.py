"""A provider of corporate actions that a test chooses."""

from collections.abc import Sequence
from datetime import date

from quotecast.market.actions import CorporateAction


class Actions:
    """A provider of given actions."""

    def __init__(self, name: str = "test", error: Exception | None = None) -> None:
        self.name = name
        self.error = error
        self.given: list[CorporateAction] = []
        self.asked: list[tuple[str, date, date]] = []

    async def actions(self, symbol: str, first: date, last: date) -> Sequence[CorporateAction]:
        self.asked.append((symbol, first, last))
        if self.error is not None:
            raise self.error
        return [each for each in self.given if each.symbol == symbol]
