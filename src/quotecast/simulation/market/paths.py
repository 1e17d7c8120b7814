"""Random daily price paths that support random access and revert to their mean."""

from array import array
from collections.abc import Callable, Sequence
from typing import Final

from quotecast.simulation.market.noise import bridge, fractions, key_of, noise

#: Points of a path per day: midnight, and one more, so that the price can also move overnight.
POINTS_PER_DAY: Final = 2

_BLOCK: Final = 256
_STEP: Final = POINTS_PER_DAY**-0.5
#: Standard deviation of the points that join two blocks, in daily moves: about that of a bridge at its
#: middle.
_ANCHOR: Final = 5.5
_ANCHOR_KIND: Final = 1
_BLOCK_KIND: Final = 2
#: Standard deviation of the sum of four fractions, each uniform on [0, 1).
_SUM_DEVIATION: Final = 3**-0.5

Path = Callable[[int], float]


def path(key: bytes) -> Path:
    """Returns a mean-reverting path around 0 with daily steps of standard deviation 1.

    The path is a chain of Brownian bridges, each 128 days long, between independent points. Any point can
    therefore be computed without the earlier ones.
    """
    blocks: dict[int, Sequence[float]] = {}

    def point_at(index: int) -> float:
        number, offset = divmod(index, _BLOCK)
        block = blocks.get(number)
        if block is None:
            start, end = _anchor(key, number), _anchor(key, number + 1)
            points = bridge(noise(key, number, _BLOCK_KIND, 2 * _BLOCK), start, end, _STEP)
            block = blocks[number] = array("d", [start, *points[:-1]])
        return block[offset]

    return point_at


def paths(seed: int) -> Callable[[str], Path]:
    """Returns a function from a name to its path in the market of `seed`; it caches paths."""
    by_name: dict[str, Path] = {}

    def path_of(name: str) -> Path:
        if name not in by_name:
            by_name[name] = path(key_of(seed, "path", name))
        return by_name[name]

    return path_of


def _anchor(key: bytes, number: int) -> float:
    return (sum(fractions(noise(key, number, _ANCHOR_KIND, 8))) - 2.0) / _SUM_DEVIATION * _ANCHOR
