"""The recordings of a world: the service's own recorder, in turns of its ingest."""

import asyncio
import random
from typing import Final

from quotecast.history.recorder import FLUSH_SECONDS, SegmentRecorder

#: How many worlds record their feeds.
_RECORDED: Final = 0.25


def is_recorded(seed: int) -> bool:
    """Draws whether the ingests of a world record."""
    return random.Random(f"recordings of {seed}").random() < _RECORDED


class TurnRecorder(SegmentRecorder):
    """A recorder without a thread: threads have no order that a seed could draw."""

    def start(self) -> None:
        """Writes once a second from now on."""
        self._turns = asyncio.get_running_loop().create_task(self._take_turns())

    def stop(self) -> None:
        """Writes what waits, and finishes the segments."""
        self._turns.cancel()
        self._stopping = True
        self._run()

    async def _take_turns(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            self.write_waiting()
