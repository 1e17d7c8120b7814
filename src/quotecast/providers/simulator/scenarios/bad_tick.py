"""Messages with an impossible price or time."""

from typing import Final, get_args

from quotecast.providers.simulator.noise import key_of
from quotecast.providers.simulator.scenarios.base import Scenario, Spoil
from quotecast.providers.simulator.scenarios.parameters import OneOf, Seconds, draw, milliseconds_of

_KEY: Final = key_of(0, "bad-tick")
_KINDS: Final[tuple[Spoil, ...]] = get_args(Spoil)


class BadTick(Scenario, frozen=True, kw_only=True, tag="bad-tick"):
    """One of `every` messages has a wrong price (zero, NaN, times 100), crossed quotes or a future time.

    `kind` chooses one of these.
    """

    every: OneOf = 100
    kind: Spoil | None = None
    seconds: Seconds | None = None

    @property
    def milliseconds(self) -> int | None:
        """See Scenario."""
        return milliseconds_of(self.seconds)

    def spoil(self, elapsed: int, number: int) -> Spoil | None:
        """See Scenario."""
        del elapsed
        turn, rest = divmod(draw(_KEY, number), self.every)
        if rest:
            return None
        return self.kind or _KINDS[turn % len(_KINDS)]
