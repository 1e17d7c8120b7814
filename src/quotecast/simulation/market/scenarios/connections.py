"""Scenarios of the way to the client: breaks, silence, delays, repetition, maintenance and refusals."""

from typing import Annotated, ClassVar, Final

from msgspec import Meta

from quotecast.simulation.market.noise import key_of
from quotecast.simulation.market.scenarios.base import Milliseconds, OneOf, Refusal, Scenario, Seconds, draw


class Drop(Scenario, frozen=True, kw_only=True, tag="drop"):
    """All connections break every 30 seconds, without a close frame; the first time after 30 seconds."""

    every: Seconds = 30.0
    seconds: Seconds | None = None

    def drops(self, before: int, elapsed: int) -> bool:
        """See Scenario."""
        period = round(self.every * 1000)
        return before // period < elapsed // period


class Frozen(Scenario, frozen=True, kw_only=True, tag="frozen"):
    """Connections live but are silent, without heartbeats, for a minute; or `symbols` alone are silent."""

    seconds: Seconds = 60.0

    @property
    def is_silent(self) -> bool:
        """See Scenario."""
        return not self.symbols

    def delays(self, elapsed: int, number: int) -> tuple[int, ...]:
        """See Scenario."""
        del elapsed, number
        return ()


_SLOW_KEY: Final = key_of(0, "slow")
#: Milliseconds between two random delays; the delay changes steadily between them.
_LEAST_STEP: Final = 1000


class Slow(Scenario, frozen=True, kw_only=True, tag="slow"):
    """Messages arrive late by half a second and up to `jitter` milliseconds more, in their order."""

    by: Milliseconds = 500
    jitter: Milliseconds = 200
    seconds: Seconds | None = None

    def delays(self, elapsed: int, number: int) -> tuple[int, ...]:
        """See Scenario. No message overtakes another, also at the end: all delayed ones arrive until then."""
        del number
        # A delay that falls by less than a millisecond per millisecond keeps the order.
        step = max(_LEAST_STEP, 2 * self.jitter)
        turn, rest = divmod(elapsed, step)
        first, second = draw(_SLOW_KEY, turn), draw(_SLOW_KEY, turn + 1)
        share = (first + (second - first) * rest / step) / 2**32
        delay = self.by + int(self.jitter * share)
        length = self.milliseconds
        return (delay if length is None else min(delay, length - elapsed),)


_DUPLICATE_KEY: Final = key_of(0, "duplicate")


class Duplicate(Scenario, frozen=True, kw_only=True, tag="duplicate"):
    """One of `every` messages arrives twice, the second time `by` milliseconds later."""

    every: OneOf = 10
    by: Milliseconds = 0
    seconds: Seconds | None = None

    def delays(self, elapsed: int, number: int) -> tuple[int, ...]:
        """See Scenario."""
        del elapsed
        return (0,) if draw(_DUPLICATE_KEY, number) % self.every else (0, self.by)


_OUT_OF_ORDER_KEY: Final = key_of(0, "out-of-order")


class OutOfOrder(Scenario, frozen=True, kw_only=True, tag="out-of-order"):
    """One of `every` messages arrives `by` milliseconds late, after newer ones."""

    every: OneOf = 10
    by: Annotated[int, Meta(ge=1, le=60_000)] = 300
    seconds: Seconds | None = None

    def delays(self, elapsed: int, number: int) -> tuple[int, ...]:
        """See Scenario."""
        del elapsed
        return (0,) if draw(_OUT_OF_ORDER_KEY, number) % self.every else (self.by,)


class Maintenance(Scenario, frozen=True, kw_only=True, tag="maintenance"):
    """The vendor refuses requests and new connections, in its own words, for two minutes."""

    refusal: ClassVar[Refusal | None] = "maintenance"

    seconds: Seconds = 120.0


class RateLimited(Scenario, frozen=True, kw_only=True, tag="rate-limited"):
    """The vendor refuses requests and new connections because there were too many, for a minute."""

    refusal: ClassVar[Refusal | None] = "rate-limited"

    seconds: Seconds = 60.0
