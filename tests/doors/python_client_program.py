"""Prints each change of a stream as JSON, by the face of the client that the first argument names."""

import asyncio
import json
import sys

from quotecast_client import AsyncClient, Client, QuoteChange

FACE, ADDRESS, NAMES = sys.argv[1], sys.argv[2], sys.argv[3:]


def show(change: QuoteChange) -> None:
    sys.stdout.write(json.dumps([change.symbol, change.quote["price"]]) + "\n")
    sys.stdout.flush()


def follow() -> None:
    with Client(ADDRESS) as client, client.stream(NAMES, interval=100) as stream:
        for change in stream:
            show(change)


async def follow_async() -> None:
    async with AsyncClient(ADDRESS) as client, client.stream(NAMES, interval=100) as stream:
        async for change in stream:
            show(change)


if FACE == "blocking":
    follow()
else:
    asyncio.run(follow_async())
