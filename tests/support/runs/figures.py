"""Measurements, reported beside the promised values."""

from typing import Final

import pytest

LINES: Final = pytest.StashKey[list[str]]()
#: Factor by which measurements may exceed promises where others use an idle machine of 2024 too.
SLACK: Final = 3.0


class Figures:
    """The measurements of one test; the run prints `lines` at its end.

    A measurement passes up to `slack` times the promise.
    """

    def __init__(self, test: str, lines: list[str], slack: float) -> None:
        self._test = test
        self._lines = lines
        self._slack = slack

    def at_most(self, what: str, measured: float, most: float, unit: str = "s", *, room: float = 1.0) -> None:
        """Fails if the measurement exceeds the promise.

        `room` multiplies the slack for what a busy machine disturbs most, such as few milliseconds.
        """
        self.note(what, measured, f"at most {most:g}", unit)
        assert measured <= most * (self._slack * room if self._slack > 1 else 1), what

    def note(self, what: str, measured: float, promised: str, unit: str = "s") -> None:
        """Reports a measurement without a promise."""
        self._lines.append(f"{self._test}: {what}: {measured:.3g} {unit} ({promised})")
