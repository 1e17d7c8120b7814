"""A slow link."""

from typing import Final

from quotecast.providers.simulator.noise import key_of
from quotecast.providers.simulator.scenarios.base import Scenario
from quotecast.providers.simulator.scenarios.parameters import Milliseconds, Seconds, draw, milliseconds_of

_KEY: Final = key_of(0, "slow")
#: Milliseconds between two random delays; the delay changes steadily between them.
_LEAST_STEP: Final = 1000


class Slow(Scenario, frozen=True, kw_only=True, tag="slow"):
    """Messages arrive late by half a second and up to `jitter` milliseconds more, in their order."""

    by: Milliseconds = 500
    jitter: Milliseconds = 200
    seconds: Seconds | None = None

    @property
    def milliseconds(self) -> int | None:
        """See Scenario."""
        return milliseconds_of(self.seconds)

    def delays(self, elapsed: int, number: int) -> tuple[int, ...]:
        """See Scenario. No message overtakes another, also at the end: all delayed ones arrive until then."""
        del number
        # A delay that falls by less than a millisecond per millisecond keeps the order.
        step = max(_LEAST_STEP, 2 * self.jitter)
        turn, rest = divmod(elapsed, step)
        first, second = draw(_KEY, turn), draw(_KEY, turn + 1)
        share = (first + (second - first) * rest / step) / 2**32
        delay = self.by + int(self.jitter * share)
        length = self.milliseconds
        return (delay if length is None else min(delay, length - elapsed),)
