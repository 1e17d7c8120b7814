"""Messages that arrive twice."""

from typing import Final

from quotecast.providers.simulator.noise import key_of
from quotecast.providers.simulator.scenarios.base import Scenario
from quotecast.providers.simulator.scenarios.parameters import (
    Milliseconds,
    OneOf,
    Seconds,
    draw,
    milliseconds_of,
)

_KEY: Final = key_of(0, "duplicate")


class Duplicate(Scenario, frozen=True, kw_only=True, tag="duplicate"):
    """One of `every` messages arrives twice, the second time `by` milliseconds later."""

    every: OneOf = 10
    by: Milliseconds = 0
    seconds: Seconds | None = None

    @property
    def milliseconds(self) -> int | None:
        """See Scenario."""
        return milliseconds_of(self.seconds)

    def delays(self, elapsed: int, number: int) -> tuple[int, ...]:
        """See Scenario."""
        del elapsed
        return (0,) if draw(_KEY, number) % self.every else (0, self.by)
