"""Worlds in processes of their own: copies of this one, so that no world sees what another left behind."""

import gc
import os
import shutil
import signal
import tempfile
import traceback
from collections.abc import Generator, Iterable, Sequence
from typing import NamedTuple

import msgspec

from world.faults import Fault
from world.run import Outcome, play
from world.world import Broken


class _Child(NamedTuple):
    pid: int
    reader: int
    seed: int
    #: Where the world's recordings are.
    folder: str


def play_one(seed: int, chosen: Sequence[Fault] | None, count: int) -> Outcome:
    """Plays one world with `count` faults of its own, or with the chosen ones."""
    return _outcome(_start(seed, chosen, count))


def play_all(seeds: Iterable[int], count: int) -> Generator[Outcome, None, None]:
    """Plays worlds, one on each core at once; yields their outcomes in the order of the seeds.

    To close the generator is to end the worlds that run.
    """
    running: list[_Child] = []
    at_once = min(os.cpu_count() or 1, 8)
    try:
        for seed in seeds:
            running.append(_start(seed, None, count))
            if len(running) >= at_once:
                yield _outcome(running.pop(0))
        while running:
            yield _outcome(running.pop(0))
    finally:
        for child in running:
            os.kill(child.pid, signal.SIGKILL)
            os.close(child.reader)
            os.waitpid(child.pid, 0)
            shutil.rmtree(child.folder)


def _start(seed: int, chosen: Sequence[Fault] | None, count: int) -> _Child:
    reader, writer = os.pipe()
    folder = tempfile.mkdtemp(prefix="world-")
    pid = os.fork()
    if pid:
        os.close(writer)
        return _Child(pid, reader, seed, folder)
    os.close(reader)  # so that a child without its parent ends
    gc.disable()  # a world is short, and what killed processes held must not be collected
    try:
        outcome = play(seed, chosen, count=count, folder=folder)
    except BaseException:  # noqa: BLE001 - the parent reports it
        outcome = _failed(seed, traceback.format_exc())
    with os.fdopen(writer, "wb") as stream:
        stream.write(msgspec.msgpack.encode(outcome))
    os._exit(0)


def _outcome(child: _Child) -> Outcome:
    with os.fdopen(child.reader, "rb") as stream:
        data = stream.read()
    os.waitpid(child.pid, 0)
    shutil.rmtree(child.folder)
    return msgspec.msgpack.decode(data, type=Outcome) if data else _failed(child.seed, "its process died")


def _failed(seed: int, why: str) -> Outcome:
    return Outcome(seed, [], [Broken("the world runs", why, 0.0)], [], 0.0, 0)
