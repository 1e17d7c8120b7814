"""The garbage collector of a process that holds much for long.

A full collection visits every container that lives: with 12,000 symbols it stops the event loop for 100 ms
and more, several times a minute. Reference counts free quotes without it.
"""

import asyncio
import ctypes
import gc
from typing import Final

#: New containers between two collections of the young ones, and collections until older ones take part.
#: Python's own 700 visit each container of ten thousand new connections several times: a third of the CPU
#: time of a handshake.
THRESHOLDS: Final = (20_000, 20, 20)


def freeze_present_objects() -> None:
    """Collects garbage once; later collections are rarer, and visit only objects newer than this call.

    Returns the free memory to the system.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    return_free_memory()


def return_free_memory() -> None:
    """Returns the memory that imports have freed to the system: 10 MB, where the C library is glibc."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)


async def freeze_after(event: asyncio.Event) -> None:
    """Freezes the objects that are present at an event."""
    await event.wait()
    freeze_present_objects()
