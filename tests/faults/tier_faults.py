"""Faults between the tiers of a service: edges, and the lines to what they follow."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from support.servers.fault_proxy import FaultProxy
from support.servers.whole_service import Whole
from support.stages.tiers import EdgeProcess

#: Seconds by which a slow line delays each block.
DELAY_SECONDS: Final = 0.2
#: Bytes after which a line that breaks off does so: within the first states.
BREAK_BYTES: Final = 60_000

Inflict = Callable[[Whole], AbstractContextManager[None]]


def edge_dies(number: int) -> Inflict:
    """Kills an edge, which restarts."""

    @contextmanager
    def inflict(whole: Whole) -> Iterator[None]:
        edge = _edge(whole, number)
        edge.kill()
        yield
        edge.start()

    return inflict


def edge_freezes(number: int) -> Inflict:
    @contextmanager
    def inflict(whole: Whole) -> Iterator[None]:
        edge = _edge(whole, number)
        edge.freeze()
        yield
        edge.thaw()

    return inflict


def line_is_cut(number: int) -> Inflict:
    """Resets the connections of an edge to what it follows, and refuses new ones."""

    @contextmanager
    def inflict(whole: Whole) -> Iterator[None]:
        line = _line(whole, number)
        line.refuses = True
        line.reset()
        yield
        line.refuses = False

    return inflict


def line_is_silent(number: int) -> Inflict:
    """Holds every byte between an edge and what it follows; no connection ends by itself."""

    @contextmanager
    def inflict(whole: Whole) -> Iterator[None]:
        line = _line(whole, number)
        line.passes.clear()
        yield
        line.passes.set()

    return inflict


def line_is_slow(number: int) -> Inflict:
    @contextmanager
    def inflict(whole: Whole) -> Iterator[None]:
        line = _line(whole, number)
        line.delay = DELAY_SECONDS
        yield
        line.delay = 0.0

    return inflict


def line_breaks_off(number: int) -> Inflict:
    """Ends each connection in the middle of a message, again and again."""

    @contextmanager
    def inflict(whole: Whole) -> Iterator[None]:
        line = _line(whole, number)
        line.truncate_after = BREAK_BYTES
        line.reset()
        yield
        line.truncate_after = None
        line.reset()

    return inflict


def _edge(whole: Whole, number: int) -> EdgeProcess:
    """Returns the edge at a tier; the origin is tier 1."""
    assert whole.tiers
    return whole.tiers.edges[number - 2]


def _line(whole: Whole, number: int) -> FaultProxy:
    return _edge(whole, number).line
