"""What a rate limit answers."""

from msgspec import Struct


class Decision(Struct, frozen=True, gc=False):
    """Whether a request may pass, and how its window then stands."""

    admitted: bool
    limit: int
    #: How many more requests would be admitted now.
    remaining: int
    #: Whole seconds, rounded up, until the oldest counted request leaves the window.
    reset: int
    #: Refused by a worker that knew it, without asking.
    remembered: bool = False
