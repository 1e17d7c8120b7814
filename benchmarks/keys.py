"""`python -m benchmarks.keys`: what API keys and plans cost, and how soon a revocation reaches open sockets.

First one worker serves clients without a key and clients of a key in turn (`benchmarks.key_costs`). Then two
workers hold a socket for each of 1,000 keys, which are revoked one after the other. About nine minutes.
"""

import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from benchmarks.contenders import Server, quotecast
from benchmarks.key_costs import costs
from quotecast.access import storage
from quotecast.access.key_text import key_text, new_secret
from quotecast.access.keys import Scope
from quotecast.close_codes import CloseCode
from quotecast.database import migrations
from quotecast.database.database import Database, Run
from quotecast.database.ids import new_id
from quotecast.local import folder, servers

KEYS: Final = 1000
#: Revocations a second.
PACE: Final = 20.0
PLAN: Final = """
[plans.paying]
requests = { market = 1000000, crypto = 1000000 }
sockets = 100000
feeds = ["market", "crypto"]
"""


@asynccontextmanager
async def stage() -> AsyncIterator[tuple[str, Mapping[str, str]]]:
    """Runs a PostgreSQL with tables; yields its URL, and settings for workers."""
    with (
        tempfile.TemporaryDirectory(prefix="quotecast-bench-") as name,
        folder.hold_folder(Path(name)) as data,
        folder.socket_folder(data) as sockets,
    ):
        plans = data / "plans.toml"
        plans.write_text(PLAN)
        async with servers.database("", data, sockets) as url:
            await migrations.apply(url)
            settings = {"QUOTECAST_DATABASE_URL": url, "QUOTECAST_PLANS": str(plans)}
            yield (
                url,
                {**settings, "QUOTECAST_LIMIT_CRYPTO": "1000000", "QUOTECAST_LIMIT_TERMINAL": "1000000"},
            )


async def make_keys(database_url: str, count: int) -> list[tuple[str, str]]:
    """Returns ids and texts of new keys."""
    made = []

    async def work(run: Run) -> None:
        for _ in range(count):
            key_id, secret = new_id(time.time), new_secret()
            await storage.add_for_operator(
                run,
                key_id,
                secret,
                name="bench",
                plan="paying",
                scope=Scope(),
                now=datetime.now(UTC),
                until=None,
            )
            made.append((key_id, key_text(key_id, secret)))

    async with Database(database_url, pool_size=1, deadline_seconds=60) as database:
        await database.transaction(work)
    return made


async def revocations(server: Server, database_url: str) -> list[float]:
    """Returns the seconds from each revocation's commit to the close of its socket."""
    keys = await make_keys(database_url, KEYS)
    sockets = [await _open(server, key) for _, key in keys]
    ended = {
        key_id: asyncio.create_task(_end(socket)) for (key_id, _), socket in zip(keys, sockets, strict=True)
    }
    committed: dict[str, float] = {}
    async with Database(database_url, pool_size=1) as database:
        for key_id, _ in random.sample(keys, KEYS):
            await asyncio.sleep(random.expovariate(PACE))
            await database.transaction(partial(_revoke, key_id=key_id))
            committed[key_id] = time.monotonic()
    ends = {key_id: await task for key_id, task in ended.items()}
    assert {code for _, code in ends.values()} == {CloseCode.KEY_ENDED}
    return [ends[key_id][0] - at for key_id, at in committed.items()]


async def _revoke(run: Run, *, key_id: str) -> None:
    await storage.revoke_any(run, key_id, datetime.now(UTC))


async def _open(server: Server, key: str) -> ClientConnection:
    url = f"ws://127.0.0.1:{server.feed_port}/api/ws/crypto?symbols=BTC-USDT&interval=5000"
    socket = await connect(url, additional_headers={"X-API-Key": key}, ping_interval=None)
    assert json.loads(await socket.recv())["type"] == "welcome"
    return socket


async def _end(socket: ClientConnection) -> tuple[float, int | None]:
    try:
        while True:
            await socket.recv()
    except ConnectionClosed:
        return time.monotonic(), socket.close_code


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def run() -> None:
    """Prints the figures."""
    async with stage() as (database_url, settings):
        ((_, key),) = await make_keys(database_url, 1)
        await asyncio.to_thread(lambda: [*map(_say, costs(settings, key))])
        with quotecast(settings, 2, core=None) as server:
            waits = await revocations(server, database_url)
    cuts = quantiles(waits, n=100)
    _say(
        f"revocation of {len(waits):,} keys, from the commit to the close of a socket on one of two workers: "
        f"p50 {cuts[49]:.2f} s, p99 {cuts[98]:.2f} s, worst {max(waits):.2f} s"
    )


if __name__ == "__main__":
    asyncio.run(run())
