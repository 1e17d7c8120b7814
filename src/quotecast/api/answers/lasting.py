"""Answers about whole feeds, which take milliseconds to write where symbols are many.

A feed of 12,000 symbols changes 50 times a second, and writing all of its quotes takes 20 ms or more: a few
readers would take the whole core. So readers share an answer about a large feed for ten times as long as
writing it took. Its tag names the seq of its quotes.
"""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec
from weakref import WeakKeyDictionary

from quotecast.api.answers.answers import Answer, SharedBody, quotes_answer
from quotecast.asgi import Header
from quotecast.feed.mirror import Mark, Mirror

#: Symbols of a feed from which on answers are shared for longer than until the next change.
LARGE: Final = 2000
#: How much longer an answer lasts than it took, and the longest time in seconds: that of its Cache-Control.
_LASTS: Final = 10
_MAX_SECONDS: Final = 1.0

P = ParamSpec("P")


class _Copy(NamedTuple):
    """A body, the point in history of its quotes, and until when readers share it."""

    mark: Mark
    body: SharedBody
    until: float


_copies: Final[WeakKeyDictionary[Mirror, dict[tuple[Any, ...], _Copy]]] = WeakKeyDictionary()


def lasting_answer(
    mirror: Mirror,
    now: float,
    write: Callable[Concatenate[Mirror, P], bytes],
    more: Sequence[Header] = (),
    *args: P.args,
    **constants: P.kwargs,
) -> Answer:
    """Returns the answer with a body that `write` makes of a whole feed; see `Mirror.derive`.

    `now` is in seconds of the clock of the mirror's `heard_at`.
    """
    copies = _copies.setdefault(mirror, {})
    mark, key = mirror.mark, (write, args)
    copy = copies.get(key)
    if copy is None or (copy.mark is not mark and (now >= copy.until or copy.mark.epoch != mark.epoch)):
        began = perf_counter()
        body = SharedBody(write(mirror, *args, **constants))
        took = perf_counter() - began
        lasts = min(_LASTS * took, _MAX_SECONDS) if len(mirror) >= LARGE else 0.0
        copy = copies[key] = _Copy(mark, body, now + lasts)
    return quotes_answer(mirror, now, copy.body, *more, seq=copy.mark.seq)
