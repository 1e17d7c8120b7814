"""What was measured, told beside what is promised."""

from typing import Final

import pytest

LINES: Final = pytest.StashKey[list[str]]()
#: How many times as long anything may take where others use the machine too.
SLACK: Final = 3.0


class Figures:
    """Of one test; `lines` are told at the end of the run.

    `slack` times as much as is promised does not fail yet.
    """

    def __init__(self, test: str, lines: list[str], slack: float) -> None:
        self._test = test
        self._lines = lines
        self._slack = slack

    def at_most(self, what: str, measured: float, most: float, unit: str = "s", *, room: float = 1.0) -> None:
        """Fails if more was measured than is promised.

        `room` times the slack pass for what a busy machine spoils most, such as few milliseconds.
        """
        self.note(what, measured, f"at most {most:g}", unit)
        assert measured <= most * (self._slack * room if self._slack > 1 else 1), what

    def note(self, what: str, measured: float, promised: str, unit: str = "s") -> None:
        """Tells a figure that nothing depends on."""
        self._lines.append(f"{self._test}: {what}: {measured:.3g} {unit} ({promised})")
