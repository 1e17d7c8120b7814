"""What one worker has read of late, so that it can answer without Redis."""

from collections import OrderedDict
from typing import Final

from quotecast.cache.known import CacheState

#: Memory of an item beside its key and body.
_OVERHEAD_BYTES: Final = 500


class RecentStates:
    """Holds items of at most `max_bytes` together; the least recently used makes room."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._items: OrderedDict[str, CacheState] = OrderedDict()

    def __len__(self) -> int:
        return len(self._items)

    def find(self, key: str) -> CacheState:
        """What is known of the key; nothing, if need be."""
        known = self._items.get(key)
        if known is None:
            return CacheState()
        self._items.move_to_end(key)
        return known

    def keep(self, key: str, known: CacheState) -> None:
        """Replaces what was known of the key."""
        replaced = self._items.pop(key, None)
        self._bytes += _size(key, known) - (_size(key, replaced) if replaced else 0)
        self._items[key] = known
        while self._bytes > self._max_bytes:
            self._bytes -= _size(*self._items.popitem(last=False))


def _size(key: str, known: CacheState) -> int:
    return _OVERHEAD_BYTES + len(key) + (len(known.entry.body) if known.entry else 0)
