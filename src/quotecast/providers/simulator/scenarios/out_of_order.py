"""Messages that newer ones overtake."""

from typing import Annotated, Final

from msgspec import Meta

from quotecast.providers.simulator.noise import key_of
from quotecast.providers.simulator.scenarios.base import Scenario
from quotecast.providers.simulator.scenarios.parameters import OneOf, Seconds, draw, milliseconds_of

_KEY: Final = key_of(0, "out-of-order")


class OutOfOrder(Scenario, frozen=True, kw_only=True, tag="out-of-order"):
    """One of `every` messages arrives `by` milliseconds late, after newer ones."""

    every: OneOf = 10
    by: Annotated[int, Meta(ge=1, le=60_000)] = 300
    seconds: Seconds | None = None

    @property
    def milliseconds(self) -> int | None:
        """See Scenario."""
        return milliseconds_of(self.seconds)

    def delays(self, elapsed: int, number: int) -> tuple[int, ...]:
        """See Scenario."""
        del elapsed
        return (0,) if draw(_KEY, number) % self.every else (self.by,)
