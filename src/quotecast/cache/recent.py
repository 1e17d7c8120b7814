"""One worker's own memory of cache states, which serves readers without a round trip to Redis."""

from collections import OrderedDict
from typing import Final

from quotecast.cache.state import CacheState

#: Memory of one item without its key and body.
_OVERHEAD_BYTES: Final = 500


class RecentStates:
    """An LRU map from keys to states, of at most `max_bytes` in all."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._items: OrderedDict[str, CacheState] = OrderedDict()

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: str) -> CacheState:
        """Returns the state of a key, an empty one by default, and marks the key as used."""
        state = self._items.get(key)
        if state is None:
            return CacheState()
        self._items.move_to_end(key)
        return state

    def put(self, key: str, state: CacheState) -> None:
        """Replaces the state of a key; evicts the least recently used keys beyond the bound."""
        replaced = self._items.pop(key, None)
        self._bytes += _size(key, state) - (_size(key, replaced) if replaced else 0)
        self._items[key] = state
        while self._bytes > self._max_bytes:
            self._bytes -= _size(*self._items.popitem(last=False))


def _size(key: str, state: CacheState) -> int:
    return _OVERHEAD_BYTES + len(key) + (len(state.entry.body) if state.entry else 0)
