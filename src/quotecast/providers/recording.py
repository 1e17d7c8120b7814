"""What upstreams send, kept as it comes, in the form that `replay` plays."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Takes one message of an upstream.
Sink = Callable[[bytes], None]

_sink: ContextVar[Sink | None] = ContextVar("sink", default=None)


@contextmanager
def recording(sink: Sink) -> Iterator[None]:
    """Hands over every message of a WebSocket that tasks begun in this block receive."""
    token = _sink.set(sink)
    try:
        yield
    finally:
        _sink.reset(token)


def keep(messages: Iterable[bytes]) -> None:
    """Hands messages to whoever records, if anybody does."""
    if sink := _sink.get():
        for message in messages:
            sink(message)
