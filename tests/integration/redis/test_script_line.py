"""ScriptConnection: calls run one after the other, and none gets another's answer."""

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest
import redis.asyncio

from quotecast.limits.window import Window
from quotecast.redis.client import connect
from quotecast.redis.script_line import ScriptConnection
from support.runs.deadlines import scaled
from support.runs.waits import until
from support.servers.fault_proxy import FaultProxy
from support.servers.processes import Valkey

ECHO = "return ARGV[1]"


@pytest.fixture
async def client(own_valkey: Valkey) -> AsyncIterator[redis.asyncio.Redis]:
    connected = connect(own_valkey.url, "limits")
    assert isinstance(connected, redis.asyncio.Redis)
    yield connected
    await connected.aclose()


@pytest.fixture
def line(client: redis.asyncio.Redis) -> ScriptConnection:
    return ScriptConnection(client, ECHO)


async def test_calls_at_once_are_each_given_their_own_answer(line: ScriptConnection) -> None:
    """The second call waits for the first, on the one connection."""
    assert await asyncio.gather(*(line([], [number]) for number in range(20))) == [
        str(number).encode() for number in range(20)
    ]


async def test_a_call_given_up_leaves_no_answer_to_the_next(
    line: ScriptConnection, own_valkey: Valkey
) -> None:
    """A cancelled call closes its connection."""
    await line([], ["before"])
    own_valkey.freeze()
    given_up = asyncio.create_task(line([], ["given up"]))
    # Turns enough for the command to be written.
    for _ in range(10):
        await asyncio.sleep(0)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    own_valkey.thaw()
    assert await line([], ["next"]) == b"next"


async def test_a_connection_that_the_server_closed_costs_no_call(
    line: ScriptConnection, client: redis.asyncio.Redis
) -> None:
    """If the end of the connection has arrived, the next call opens a new one."""
    await line([], ["before"])
    for known in await client.client_list():
        if known["cmd"] == "evalsha" or known["cmd"] == "eval":
            await client.client_kill_filter(_id=known["id"])
    # The server's next answer on another connection comes after the farewell on this one.
    await client.ping()
    assert await line([], ["after"]) == b"after"


async def test_a_script_that_the_server_lost_is_sent_again(
    line: ScriptConnection, client: redis.asyncio.Redis
) -> None:
    """The script did not run before it was loaded."""
    await line([], ["before"])
    await client.script_flush()
    assert await line([], ["after"]) == b"after"


async def test_a_refused_call_raises_and_the_next_one_succeeds(client: redis.asyncio.Redis) -> None:
    """An error of the script leaves the connection open."""
    line = ScriptConnection(client, "return redis.call(ARGV[1])")
    with pytest.raises(redis.exceptions.ResponseError):
        await line([], ["nonsense"])
    assert await line([], ["PING"]) == b"PONG"


async def test_a_server_that_comes_back_is_found_again(line: ScriptConnection, own_valkey: Valkey) -> None:
    """Calls during the outage fail without waiting."""
    await line([], ["before"])
    own_valkey.kill()
    with pytest.raises((redis.exceptions.ConnectionError, OSError, RuntimeError)):
        await line([], ["meanwhile"])
    own_valkey.start()
    assert await line([], ["after"]) == b"after"


async def test_limits_are_shared_again_though_no_check_has_the_time_to_connect(own_valkey: Valkey) -> None:
    """The next check uses the connection that the probe opened beside the requests."""

    def server() -> socket.socket:
        opened = socket.socket(socket.AF_UNIX)
        opened.connect(str(own_valkey.socket))
        return opened

    with FaultProxy(server) as proxy:
        # More than a check's budget, less than a probe may take.
        proxy.greeting_delay = 0.6
        url = f"redis://127.0.0.1:{proxy.port}"
        async with asyncio.timeout(scaled(30)), Window(url, prefix="t", budget=0.4, pause=0.01) as window:
            proxy.reset()
            while not window.statistics().alone:
                await window.check("key", 1000)
            await until(lambda: not window.statistics().alone)
            shared = False
            while not shared:
                before = window.statistics()
                await window.check("key", 1000)
                after = window.statistics()
                shared = (after.calls - before.calls, after.fallbacks - before.fallbacks) == (1, 0)
