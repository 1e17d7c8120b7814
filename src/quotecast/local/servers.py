"""The PostgreSQL and the Redis of this run: external ones from the settings, or embedded ones."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Awaitable
from functools import partial
from pathlib import Path

from quotecast.errors import SettingsError
from quotecast.local import children, console, locks, postgres, probes, valkey
from quotecast.local.child import ProcessSpec


@contextlib.asynccontextmanager
async def database(url: str, data: Path, sockets: Path) -> AsyncIterator[str]:
    """Gives the URL of a PostgreSQL that answers: `url`, or if empty an embedded one, until the end.

    Raises SettingsError if `url` does not answer.
    """
    if url:
        await _check("QUOTECAST_DATABASE_URL", "postgres", url, probes.postgres(url))
        yield url
        return
    cluster = data / "postgres"
    kill_children = partial(postgres.kill_children, cluster)
    lock = await locks.claim(
        data / "postgres.lock", pid_file=postgres.pid_file(cluster), kill_children=kill_children
    )
    user = postgres.system_user()
    postgres.give_to(sockets, user)
    if not cluster.exists():
        console.say(f"postgres  makes its data folder, {cluster}")
    await asyncio.to_thread(postgres.create, cluster, user)
    url = postgres.url(sockets)
    part = ProcessSpec(
        name="postgres",
        command=postgres.command(cluster, sockets),
        probe=lambda: _describe(probes.postgres(url), f"in {sockets}: accounts"),
        user=user,
        lock=lock,
        clear_up=kill_children,
        # SIGINT asks for a fast shutdown, which ends sessions instead of waiting for them.
        stop_signal=signal.SIGINT,
        stop_seconds=1.5,
    )
    async with children.keep_running(part):
        yield url


@contextlib.asynccontextmanager
async def cache(url: str, data: Path, sockets: Path) -> AsyncIterator[str]:
    """Gives the URL of a Redis that answers: `url`, or if empty an embedded Valkey, until the end.

    Raises SettingsError if `url` does not answer.
    """
    if url:
        await _check("QUOTECAST_REDIS_URL", "redis", url, probes.cache(url))
        yield url
        return
    home = data / "valkey"
    home.mkdir(mode=0o700, exist_ok=True)
    lock = await locks.claim(data / "valkey.lock", pid_file=valkey.pid_file(home))
    socket = sockets / "valkey.sock"
    url = valkey.url(socket)
    part = ProcessSpec(
        name="valkey",
        command=valkey.command(home, socket),
        clear_up=partial(valkey.set_dump_aside, home),
        probe=lambda: _describe(probes.cache(url), f"on {socket}: last quotes, the bus and rate limits"),
        lock=lock,
        stop_seconds=1.0,
    )
    async with children.keep_running(part):
        yield url


async def _describe(version: Awaitable[str], what: str) -> str:
    return f"{await version} {what}"


async def _check(variable: str, name: str, url: str, version: Awaitable[str]) -> None:
    try:
        console.say(f"{name:<9} {'external':<11} {await version} at {probes.place(url)}")
    except probes.NoAnswer as error:
        raise SettingsError(f"{variable}: {error}") from error
