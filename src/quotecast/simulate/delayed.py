"""Messages that a scenario delays, in the order in which they are due."""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Final, Generic, TypeVar

Message = TypeVar("Message")

#: Messages that may wait; with one more, the one that is due first arrives at once.
MAX_DELAYED: Final = 500_000


class Delayed(Generic[Message]):
    """Delayed messages; those that are due at the same time keep the order of their `push`."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, Message]] = []
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._waiting)

    def push(self, due: int, message: Message) -> None:
        """Adds a message that is due at a moment in Unix milliseconds."""
        heappush(self._waiting, (due, next(self._numbers), message))

    def pop_due(self, moment: int) -> Iterator[Message]:
        """Removes and returns the messages that are due, and those over the bound."""
        while self._waiting and (self._waiting[0][0] <= moment or len(self._waiting) > MAX_DELAYED):
            yield heappop(self._waiting)[2]

    def hurry(self) -> None:
        """Makes all messages due now, in their order."""
        self._waiting = [(0, number, message) for number, (_, _, message) in enumerate(sorted(self._waiting))]
