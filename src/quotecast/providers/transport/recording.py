"""Hands what upstreams send to a recorder, in the form that `replay` plays."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from msgspec import Struct


class Instrument(Struct, frozen=True):
    """A pair as its upstream lists it; `symbol` is what messages call it, `name` that of the base asset."""

    symbol: str
    base: str
    quote: str
    name: str

    @property
    def pair(self) -> str:
        """What the pair is addressed by."""
        return f"{self.base}/{self.quote}"


class Recorder(Protocol):
    """Writes a recording."""

    def write_message(self, message: bytes) -> None:
        """Takes one message of an upstream."""
        ...

    def write_listing(self, instruments: Sequence[Instrument]) -> None:
        """Takes the pairs that the messages after it are about."""
        ...


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Hands over listings, and every message of a WebSocket, that tasks begun in this block receive."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


def record_messages(messages: Iterable[bytes]) -> None:
    """Hands messages to the recorder, if there is one."""
    if recorder := _recorder.get():
        for message in messages:
            recorder.write_message(message)


def record_listing(instruments: Sequence[Instrument]) -> None:
    """Hands the pairs that an upstream follows to the recorder, if there is one."""
    if recorder := _recorder.get():
        recorder.write_listing(instruments)
