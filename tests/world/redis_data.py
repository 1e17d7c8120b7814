"""The keys of a simulated Redis, and the commands on them."""

from collections.abc import Callable, Iterable
from typing import Any, Final

_MILLISECONDS: Final = 1000
_MICROSECONDS: Final = 1_000_000
#: The largest half of an id.
_MOST: Final = (1 << 64) - 1

Id = tuple[int, int]


class RedisError(Exception):
    """An error that the server answers; its first word is the code."""


class Status(str):
    """An answer such as OK."""

    __slots__ = ()


class Stream(list[tuple[Id, list[bytes]]]):
    """Entries in the order of their ids, and the highest id that there ever was."""

    last: Id = (0, 0)


class Data:
    """The keys with their values, and when they expire; `clock` is Unix time."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._values: dict[bytes, Any] = {}
        #: Unix times in milliseconds.
        self._ends: dict[bytes, int] = {}

    def __deepcopy__(self, _: object) -> "Data":
        copied = Data(self.clock)
        copied._ends = dict(self._ends)
        for key, value in self._values.items():
            copied._values[key] = value if isinstance(value, bytes) else type(value)(value)
            if isinstance(value, Stream):
                copied._values[key].last = value.last
        return copied

    def milliseconds(self) -> int:
        """Returns the server's time."""
        return int(self.clock() * _MILLISECONDS)

    def find(self, key: bytes, kind: type) -> Any:
        """Returns the value of a key, None if there is none. Raises RedisError for another type."""
        end = self._ends.get(key)
        if end is not None and end <= self.milliseconds():
            self.remove(key)
        value = self._values.get(key)
        if value is not None and kind is not object and type(value) is not kind:
            raise RedisError("WRONGTYPE Operation against a key holding the wrong kind of value")
        return value

    def make(self, key: bytes, kind: type) -> Any:
        """Returns the value of a key, an empty one if there is none."""
        value = self.find(key, kind)
        if value is None:
            value = self._values[key] = kind()
        return value

    def put(self, key: bytes, value: Any, end: int | None = None) -> None:
        """Replaces a value."""
        self._values[key] = value
        self._ends.pop(key, None)
        if end is not None:
            self._ends[key] = end

    def remove(self, key: bytes) -> bool:
        """Deletes a key; returns whether there was one."""
        self._ends.pop(key, None)
        return self._values.pop(key, None) is not None

    def tidy(self, key: bytes) -> None:
        """Deletes an empty value, as Redis does for all but streams."""
        if not self._values.get(key):
            self.remove(key)

    def expire(self, key: bytes, end: int) -> bool:
        """Sets when a key expires; returns whether there is one."""
        if key not in self._values:
            return False
        self._ends[key] = end
        return True

    def give(self, other: "Data", moves: Callable[[bytes], bool]) -> None:
        """Moves some keys to another server, in place of what that one had of them."""
        for key in [each for each in other._values if moves(each)]:
            other.remove(key)
        for key in [each for each in self._values if moves(each)]:
            other.put(key, self._values[key], self._ends.get(key))
            self.remove(key)

    def end_of(self, key: bytes) -> int | None:
        """Returns when a key expires."""
        return self._ends.get(key)


def _get(data: Data, key: bytes) -> bytes | None:
    found: bytes | None = data.find(key, bytes)
    return found


def _set(data: Data, key: bytes, value: bytes, *options: bytes) -> Status | None:
    words = [each.upper() for each in options]
    present = data.find(key, object) is not None
    if (b"NX" in words and present) or (b"XX" in words and not present):
        return None
    end = data.end_of(key) if b"KEEPTTL" in words else None
    for name, unit in ((b"PX", 1), (b"EX", _MILLISECONDS)):
        if name in words:
            end = data.milliseconds() + unit * int(options[words.index(name) + 1])
    data.put(key, value, end)
    return Status("OK")


def _del(data: Data, *keys: bytes) -> int:
    return sum(data.find(key, object) is not None and data.remove(key) for key in keys)


def _exists(data: Data, *keys: bytes) -> int:
    return sum(data.find(key, object) is not None for key in keys)


def _type(data: Data, key: bytes) -> Status:
    names: dict[Any, str] = {bytes: "string", dict: "hash", list: "list", Stream: "stream"}
    return Status(names.get(type(data.find(key, object)), "none"))


def _time(data: Data) -> list[bytes]:
    now = int(data.clock() * _MICROSECONDS)
    return [b"%d" % (now // _MICROSECONDS), b"%d" % (now % _MICROSECONDS)]


def _pexpire(data: Data, key: bytes, milliseconds: bytes) -> int:
    return int(
        data.find(key, object) is not None and data.expire(key, data.milliseconds() + int(milliseconds))
    )


def _hset(data: Data, key: bytes, *pairs: bytes) -> int:
    fields = data.make(key, dict)
    before = len(fields)
    fields.update(zip(pairs[::2], pairs[1::2], strict=True))
    return len(fields) - before


def _hget(data: Data, key: bytes, field: bytes) -> bytes | None:
    found: bytes | None = (data.find(key, dict) or {}).get(field)
    return found


def _hmget(data: Data, key: bytes, *fields: bytes) -> list[bytes | None]:
    found = data.find(key, dict) or {}
    return [found.get(field) for field in fields]


def _hgetall(data: Data, key: bytes) -> list[bytes]:
    return [word for pair in (data.find(key, dict) or {}).items() for word in pair]


def _hdel(data: Data, key: bytes, *fields: bytes) -> int:
    found = data.find(key, dict) or {}
    gone = sum(found.pop(field, None) is not None for field in fields)
    data.tidy(key)
    return gone


def _rpush(data: Data, key: bytes, *values: bytes) -> int:
    found = data.make(key, list)
    found.extend(values)
    return len(found)


def _lpop(data: Data, key: bytes) -> bytes | None:
    found = data.find(key, list)
    if not found:
        return None
    value: bytes = found.pop(0)
    data.tidy(key)
    return value


def _rpop(data: Data, key: bytes) -> bytes | None:
    found = data.find(key, list)
    if not found:
        return None
    value: bytes = found.pop()
    data.tidy(key)
    return value


def _llen(data: Data, key: bytes) -> int:
    return len(data.find(key, list) or ())


def _lindex(data: Data, key: bytes, index: bytes) -> bytes | None:
    found, place = data.find(key, list) or [], int(index)
    return found[place] if -len(found) <= place < len(found) else None


def _lrange(data: Data, key: bytes, first: bytes, last: bytes) -> list[bytes]:
    found = data.find(key, list) or []
    end = int(last)
    return found[int(first) :] if end == -1 else found[int(first) : end + 1]


def _lrem(data: Data, key: bytes, count: bytes, value: bytes) -> int:
    """Removes from the end for a negative count, as all callers ask."""
    found, wanted = data.find(key, list) or [], int(count)
    if wanted >= 0:
        raise RedisError("ERR only LREM with a negative count is simulated")
    places = [place for place in range(len(found) - 1, -1, -1) if found[place] == value][:-wanted]
    for place in places:
        del found[place]
    data.tidy(key)
    return len(places)


def _id(text: bytes, part: int = 0) -> Id:
    first, _, second = text.partition(b"-")
    return int(first), int(second) if second else part


def _xadd(data: Data, key: bytes, *words: bytes) -> bytes:
    rest, most = [*words], None
    if rest[0].upper() == b"MAXLEN":
        most = int(rest[1])
        del rest[:2]
    stream = data.make(key, Stream)
    now = data.milliseconds()
    if rest[0] == b"*":
        number = (now, 0) if now > stream.last[0] else (stream.last[0], stream.last[1] + 1)
    else:
        number = _id(rest[0])
    if number <= stream.last:
        raise RedisError("ERR The ID specified in XADD is equal or smaller than the target stream top item")
    stream.append((number, rest[1:]))
    stream.last = number
    if most is not None:
        del stream[: max(0, len(stream) - most)]
    return b"%d-%d" % number


def _bound(text: bytes, part: int) -> Id:
    return {b"-": (0, 0), b"+": (_MOST, _MOST)}.get(text) or _id(text, part)


def _bounds(first: bytes, last: bytes) -> Callable[[Id], bool]:
    """Returns whether an id lies in a range; `(` leaves a bound out, - and + are the ends of all ids."""
    low, high = _bound(first.lstrip(b"("), 0), _bound(last.lstrip(b"("), _MOST)
    least = low if not first.startswith(b"(") else (low[0], low[1] + 1)
    most = high if not last.startswith(b"(") else (high[0], high[1] - 1)
    return lambda each: least <= each <= most


def _listed(entries: Iterable[tuple[Id, list[bytes]]], words: tuple[bytes, ...]) -> list[Any]:
    found = [[b"%d-%d" % number, [*fields]] for number, fields in entries]
    return found[: int(words[1])] if words else found


def _xrange(data: Data, key: bytes, first: bytes, last: bytes, *words: bytes) -> list[Any]:
    holds = _bounds(first, last)
    return _listed((each for each in data.find(key, Stream) or () if holds(each[0])), words)


def _xrevrange(data: Data, key: bytes, last: bytes, first: bytes, *words: bytes) -> list[Any]:
    holds = _bounds(first, last)
    return _listed((each for each in reversed(data.find(key, Stream) or []) if holds(each[0])), words)


def _xlen(data: Data, key: bytes) -> int:
    return len(data.find(key, Stream) or ())


def _xtrim(data: Data, key: bytes, strategy: bytes, *words: bytes) -> int:
    stream = data.find(key, Stream)
    if not stream:
        return 0
    bound = words[-1]
    if strategy.upper() == b"MINID":
        count: int = sum(number < _id(bound) for number, _ in stream)
    else:
        count = max(0, len(stream) - int(bound))
    del stream[:count]
    return count


COMMANDS: Final[dict[bytes, Callable[..., Any]]] = {
    b"GET": _get,
    b"SET": _set,
    b"DEL": _del,
    b"EXISTS": _exists,
    b"TYPE": _type,
    b"TIME": _time,
    b"PEXPIRE": _pexpire,
    b"HSET": _hset,
    b"HGET": _hget,
    b"HMGET": _hmget,
    b"HGETALL": _hgetall,
    b"HDEL": _hdel,
    b"RPUSH": _rpush,
    b"LPOP": _lpop,
    b"RPOP": _rpop,
    b"LLEN": _llen,
    b"LINDEX": _lindex,
    b"LRANGE": _lrange,
    b"LREM": _lrem,
    b"XADD": _xadd,
    b"XRANGE": _xrange,
    b"XREVRANGE": _xrevrange,
    b"XLEN": _xlen,
    b"XTRIM": _xtrim,
}
#: Commands that a server without room or without a master's role refuses.
WRITES: Final = frozenset(
    {b"SET", b"DEL", b"PEXPIRE", b"HSET", b"HDEL", b"RPUSH", b"LPOP", b"RPOP", b"LREM", b"XADD", b"XTRIM"}
)
