"""The Redis of simulated worlds answers as a real one does, command by command and script by script."""

import random
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import redis

from quotecast.redis.lua import lua
from support.servers.processes import Valkey
from world.redis_data import COMMANDS, RedisError
from world.redis_server import RedisServer

KEYS = (b"a", b"b", b"c")
WORDS = (b"1", b"2", b"x", b"")
#: Commands whose answer depends on the clock, or that only scripts on clocks use.
TIMED = {b"TIME", b"PEXPIRE"}

Run = Callable[[Sequence[bytes]], Any]


@pytest.fixture
def real(redis_url: str) -> Iterator[Run]:
    """Runs commands on a real server; errors are their codes."""
    with redis.Redis.from_url(redis_url, protocol=2) as client:
        pool = client.connection_pool
        connection = pool.get_connection()

        def run(words: Sequence[bytes]) -> Any:
            connection.send_command(*words)
            try:
                return connection.read_response()
            except redis.ResponseError as error:
                return "error", _code(str(error))

        yield run
        pool.release(connection)


@pytest.fixture
def simulated() -> Run:
    """Runs commands on a simulated one."""
    server = RedisServer()

    def run(words: Sequence[bytes]) -> Any:
        try:
            answer = server.run(words)
        except RedisError as error:
            return "error", _code(str(error))
        return answer.encode() if isinstance(answer, str) else answer

    return run


def _code(text: str) -> str:
    """Returns the code of an error; redis-py drops the usual one, ERR."""
    word = text.partition(" ")[0]
    return word if word.isupper() else "ERR"


def _drawn(chance: random.Random, name: bytes) -> list[bytes]:
    """Returns a command with arguments that make sense for it."""
    key, word = chance.choice(KEYS), chance.choice(WORDS)
    number = b"%d" % chance.randint(-3, 3)
    entry = b"%d-%d" % (chance.randint(1, 6), chance.randint(0, 2))
    ends = [chance.choice((b"-", b"+", entry, b"(" + entry, entry.partition(b"-")[0])) for _ in range(2)]
    count = [b"COUNT", b"%d" % chance.randint(1, 3)] if chance.random() < 1 / 2 else []
    arguments: dict[bytes, list[bytes]] = {
        b"SET": [word, *chance.choice(([], [b"NX"], [b"XX"], [b"KEEPTTL"]))],
        b"DEL": [chance.choice(KEYS)],
        b"HSET": [word, word],
        b"HGET": [word],
        b"HMGET": [word, b"1"],
        b"HDEL": [word],
        b"RPUSH": [word, chance.choice(WORDS)],
        b"LINDEX": [number],
        b"LRANGE": [b"0", b"-1"],
        b"LREM": [b"%d" % -chance.randint(1, 3), word],
        b"XADD": [*chance.choice(([], [b"MAXLEN", b"3"])), entry, word, word],
        b"XRANGE": [*ends, *count],
        b"XREVRANGE": [*ends, *count],
        b"XTRIM": chance.choice(([b"MINID", entry], [b"MAXLEN", b"2"])),
    }
    return [name, key, *arguments.get(name, [])]


@pytest.mark.parametrize("seed", range(3))
def test_commands_answer_as_on_a_real_server(real: Run, simulated: Run, seed: int) -> None:
    """Thousands of commands drawn at random, on few keys, wrong types included."""
    chance = random.Random(seed)
    names = [name for name in COMMANDS if name not in TIMED]
    for _ in range(1500):
        words = _drawn(chance, chance.choice(names))
        assert simulated(words) == real(words), words


def _fields(chance: random.Random) -> list[bytes]:
    """Returns arguments of a script of the bus: few values, so that they often meet."""
    quotes, parts, closings = (chance.randint(0, 2) for _ in range(3))
    found = [b"PUBLISH", b"channel", b"message", b"market"]
    del found[3 if chance.random() < 1 / 2 else 4 :]
    values = [chance.choice(WORDS) for _ in range(2 * (quotes + parts))]
    bars = [word for n in range(closings) for word in (b"%d-0" % chance.randint(1, 5), b"e", b"%d" % n, b"c")]
    return [*found, b"3", b"3", b"%d" % quotes, b"%d" % parts, b"%d" % closings, *values, *bars, b"5-1", b"x"]


SCRIPTS = [
    path.stem
    for path in Path(str(resources.files("quotecast.bus"))).glob("*.lua")
    if "'TIME'" not in path.read_text("utf-8")
]


@pytest.mark.parametrize("seed", range(3))
def test_scripts_of_the_bus_answer_as_on_a_real_server(real: Run, simulated: Run, seed: int) -> None:
    """Every script, with arguments that lead into all of its branches, and the keys that it leaves."""
    chance = random.Random(seed)
    for _ in range(400):
        script = chance.choice(SCRIPTS)
        source = lua("bus", script).encode()
        keys = [b"lease", b"state", b"quotes", b"bars", b"closings", b"crossings"]
        owner, number = chance.choice((b"me", b"you")), b"%d" % chance.randint(1, 3)
        arguments = [owner, number, number, b"%d" % (int(number) + 1), *_fields(chance)]
        if script in {"report", "trim", "hold"}:
            role = chance.choice((b"", b"heir"))
            arguments = [owner, b"100000", role] if script == "hold" else [b"10", b"100000"]
        words = [b"EVAL", source, b"%d" % len(keys), *keys, *arguments]
        assert simulated(words) == real(words), words
        read = chance.choice(
            ((b"HGETALL", b"state"), (b"XRANGE", b"closings", b"-", b"+"), (b"GET", b"lease"))
        )
        assert simulated(read) == real(read), read


def test_no_script_that_may_write_begins_on_a_replica(own_valkey: Valkey) -> None:
    """An heir of a lease must not take "no state" for an answer from where its leader cannot write."""
    server = RedisServer()
    server.refusal = "readonly"
    with redis.Redis.from_url(own_valkey.url) as client:
        client.replicaof("127.0.0.1", "1")
        for script in ("hold", "publish", "window"):
            source = lua("limits" if script == "window" else "bus", script)
            with pytest.raises(redis.ReadOnlyError):
                client.eval(source, 2, "lease", "state", "me", "1000", "heir")
            with pytest.raises(RedisError, match="READONLY"):
                server.run([b"EVAL", source.encode(), b"2", b"lease", b"state", b"me", b"1000", b"heir"])


@pytest.mark.parametrize("seed", range(3))
def test_windows_decide_as_on_a_real_server(real: Run, simulated: Run, seed: int) -> None:
    """The window's script with a clock of the test's own, which also steps back."""
    chance = random.Random(seed)
    source = lua("limits", "window").replace("redis.call('TIME')", "{ARGV[#ARGV - 1], ARGV[#ARGV]}").encode()
    now = 1_700_000_000_000_000
    for _ in range(400):
        now += chance.choice((0, 1, 500_000, 20_000_000, 61_000_000, -30_000_000))
        keys = [chance.choice(KEYS) for _ in range(chance.randint(1, 4))]
        limits = b",".join(chance.choice((b"3", b"3", b"2000/40/7")) for _ in keys)
        clock = [b"%d" % each for each in divmod(now, 1_000_000)]
        words = [b"EVAL", source, b"%d" % len(keys), *keys, b"60000000", limits, *clock]
        assert simulated(words) == real(words), words
