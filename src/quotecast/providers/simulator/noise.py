"""Randomness without state: the same key always gives the same bytes, on every machine.

One SHAKE-128 call yields all the bytes that a node of the simulation needs in 1-2 us, where seeding
`random.Random` costs 7 us before the first number.
"""

from collections.abc import Iterable
from hashlib import shake_128
from itertools import accumulate
from struct import Struct as Layout
from struct import unpack
from typing import Final

#: Standard deviation of a signed 16-bit number of which every value is equally likely.
STEP_DEVIATION: Final = 65536 / 12**0.5

_NODE: Final = Layout("<qq")


def key_of(seed: int, *names: str) -> bytes:
    """The key of what bears these names in the market of this seed."""
    return shake_128("\0".join((str(seed), *names)).encode()).digest(16)


def noise(key: bytes, position: int, kind: int, length: int) -> bytes:
    """Random bytes of the node of a kind at a position."""
    return shake_128(key + _NODE.pack(position, kind)).digest(length)


def fractions(data: bytes) -> Iterable[float]:
    """Numbers from 0 to below 1, one for every two bytes."""
    return (number / 65536 for number in unpack(f"<{len(data) // 2}H", data))


def bridge(data: bytes, start: float, end: float, deviation: float) -> list[float]:
    """A random walk that is made to arrive: the points after `start`, the last of which is `end`.

    Takes two bytes per step; `deviation` is the standard deviation of one. Between its ends the walk is a
    Brownian bridge; the last point is `end` up to the error of floating point.
    """
    steps = unpack(f"<{len(data) // 2}h", data)
    scale = deviation / STEP_DEVIATION
    slope = (end - start - scale * sum(steps)) / len(steps)
    points = accumulate([scale * step + slope for step in steps], initial=start)
    next(points)
    return list(points)
