"""Deadlines of tests, by how fast this machine is just now."""

import functools
import time
from typing import Final

#: Seconds that the sample takes on an idle core of 2024.
_REFERENCE_SECONDS: Final = 0.01
_SAMPLE: Final = 400_000
_SAMPLES: Final = 5
#: A machine may become so much slower after the calibration.
_ROOM: Final = 4.0


def scaled(seconds: float) -> float:
    """Returns a deadline for what takes up to `seconds` on an idle machine."""
    return seconds * _ROOM * slowness()


@functools.cache
def slowness() -> float:
    """Returns the reference's speed divided by this machine's, at least 1; measured once a session."""
    return max(1.0, max(_seconds_of_sample() for _ in range(_SAMPLES)) / _REFERENCE_SECONDS)


def _seconds_of_sample() -> float:
    began = time.perf_counter()
    total = 0
    for number in range(_SAMPLE):
        total += number & 7
    return time.perf_counter() - began
