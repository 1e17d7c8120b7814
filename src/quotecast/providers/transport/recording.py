"""Passes messages of upstreams to a recorder, in the form that `replay` plays."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from msgspec import Struct


class Instrument(Struct, frozen=True):
    """A pair of an upstream; `symbol` is its name in messages, `name` that of the base asset."""

    symbol: str
    base: str
    quote: str
    name: str

    @property
    def pair(self) -> str:
        """Returns the key of the pair, such as `BTC/USDT`."""
        return f"{self.base}/{self.quote}"


class MessageRecorder(Protocol):
    """Writes a recording."""

    def write_message(self, message: bytes) -> None:
        """Writes one message of an upstream."""
        ...

    def write_listing(self, instruments: Sequence[Instrument]) -> None:
        """Writes the pairs of the messages after it."""
        ...


_recorder: ContextVar[MessageRecorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: MessageRecorder) -> Iterator[None]:
    """Passes on the listings and WebSocket messages of all tasks that start inside `with`."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


def record_messages(messages: Iterable[bytes]) -> None:
    """Passes messages to the recorder, if there is one."""
    if recorder := _recorder.get():
        for message in messages:
            recorder.write_message(message)


def record_listing(instruments: Sequence[Instrument]) -> None:
    """Passes the followed pairs of an upstream to the recorder, if there is one."""
    if recorder := _recorder.get():
        recorder.write_listing(instruments)
