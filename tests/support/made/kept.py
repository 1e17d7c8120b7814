"""Kept blocks in memory, on a clock of the test's own."""

from collections.abc import Callable, Sequence

from quotecast.bus import kept
from quotecast.bus.kept import Kept, KeptBlock, Released
from quotecast.errors import BusError
from quotecast.market.feeds import Feed


class MemoryKept:
    """A KeptWriter and KeptReader in memory; `clock` is the server's time in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.blocks: list[tuple[float, bytes]] = []
        #: Whether calls fail.
        self.is_away = False
        #: Whether blocks are lost on the way, with an error for their writer.
        self.is_full = False
        self._clock = clock

    async def keep(
        self, feed: Feed, owner: str, block: KeptBlock, delay_seconds: int, *, after: str = ""
    ) -> Kept | None:
        """See KeptWriter."""
        del feed, owner
        if self.is_away or self.is_full:
            raise BusError("away")
        data = kept.encode(block)
        follows = bool(self.blocks) and repr(self.blocks[-1][0]) == after
        self.blocks.append((self._clock(), data))
        oldest = self._clock() - delay_seconds - kept.GRACE_SECONDS
        self.blocks = [each for each in self.blocks if each[0] >= oldest]
        return Kept(len(data), repr(self._clock()), follows)

    async def released(self, feed: Feed, after: str, delay_seconds: int) -> Sequence[Released]:
        """See KeptReader."""
        del feed
        if self.is_away:
            raise BusError("away")
        due = [
            Released(repr(at), kept.decode(data))
            for at, data in self.blocks
            if at <= self._clock() - delay_seconds
        ]
        if after:
            return [each for each in due if float(each.id) > float(after)][:20]
        states = [number for number, each in enumerate(due) if each.block and each.block.state]
        return due[states[-1] :][:20] if states else []
