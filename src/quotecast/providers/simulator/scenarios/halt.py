"""A trading halt."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from quotecast.providers.simulator.scenarios.base import Alteration, Pause, Scenario, jump
from quotecast.providers.simulator.scenarios.parameters import Seconds


class Halt(Scenario, frozen=True, kw_only=True, tag="halt"):
    """Instruments stop trading for five minutes and resume 3 % higher (`gap`)."""

    symbols: tuple[str, ...] = ("AAPL", "BTC/USDT")
    gap: Annotated[float, Meta(ge=-0.9, le=10)] = 0.03
    seconds: Seconds = 300.0

    @property
    def milliseconds(self) -> int | None:
        """See Scenario."""
        return round(self.seconds * 1000)

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        end = start + round(self.seconds * 1000)
        return [Pause(start, end), jump(end, 1 + self.gap)]
