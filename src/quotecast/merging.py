"""Merging of several asynchronous streams into one."""

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeVar

_T = TypeVar("_T")


async def merge_streams(*streams: AsyncGenerator[_T, None]) -> AsyncGenerator[_T, None]:
    """Yields the items of several endless streams as they arrive; raises the first error of any stream.

    Closing the generator closes the streams. A stream advances only after the consumer took its last item.
    """
    waiting = {asyncio.create_task(_next(stream)): stream for stream in streams}
    try:
        while True:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                stream, item = waiting.pop(task), task.result()
                waiting[asyncio.create_task(_next(stream))] = stream
                yield item
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for stream in streams:
            await stream.aclose()


async def _next(stream: AsyncGenerator[_T, None]) -> _T:
    return await anext(stream)
