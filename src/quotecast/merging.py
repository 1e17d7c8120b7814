"""Several streams as one."""

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeVar

_T = TypeVar("_T")


async def merge_streams(*streams: AsyncGenerator[_T, None]) -> AsyncGenerator[_T, None]:
    """What any of some endless streams brings, as it comes; the first that fails ends them all.

    Closing it closes them. A stream is asked for more only when its last was taken.
    """
    waiting = {asyncio.create_task(_next(stream)): stream for stream in streams}
    try:
        while True:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                stream, brought = waiting.pop(task), task.result()
                waiting[asyncio.create_task(_next(stream))] = stream
                yield brought
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for stream in streams:
            await stream.aclose()


async def _next(stream: AsyncGenerator[_T, None]) -> _T:
    return await anext(stream)
