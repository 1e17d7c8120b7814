"""The Sentinels of simulated worlds, and their masters in a failover, answer as real ones do."""

import socket
from collections.abc import Iterator, Sequence
from typing import Any, Self

import hiredis
import pytest

from support.servers.sentinel_set import SentinelSet, running_sentinels, until
from world.redis_data import RedisError
from world.redis_server import RedisConnection, RedisServer
from world.sentinels import SERVICE, MasterView, Sentinel

pytestmark = pytest.mark.slow


def _packed(words: Sequence[bytes]) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)


class Line:
    """A connection to a real server that answers in the words of the protocol."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._reader = hiredis.Reader()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def ask(self, *words: bytes) -> Any:
        """Returns the answer to a command; an error as its text."""
        self._socket.sendall(_packed(words))
        return self.read()

    def read(self) -> Any:
        """Returns the next answer or message."""
        while (answer := self._reader.gets()) is False:
            self._reader.feed(self._socket.recv(65536))
        # Where in a script an error happened is no part of it.
        return str(answer).partition(" script: ")[0] if isinstance(answer, hiredis.ReplyError) else answer


class SimulatedLine:
    """A connection to a simulated server; it is its own transport."""

    def __init__(self, server: RedisServer | Sentinel) -> None:
        self._reader = hiredis.Reader()
        self._connection = RedisConnection(server)
        transport: Any = self
        self._connection.connection_made(transport)

    def get_extra_info(self, _: str) -> tuple[str, int]:
        """Returns an address, as a transport does."""
        return ("127.0.0.1", 1)

    def write(self, data: bytes) -> None:
        """Takes what the server sends."""
        self._reader.feed(data)

    def ask(self, *words: bytes) -> Any:
        """Returns the answer to a command; an error as its text."""
        self._connection.data_received(_packed(words))
        return self.read()

    def read(self) -> Any:
        """Returns the next answer or message."""
        answer = self._reader.gets()
        return str(answer) if isinstance(answer, hiredis.ReplyError) else answer


@pytest.fixture
def sentinels() -> Iterator[SentinelSet]:
    """Yields a master with its replica, and Sentinels."""
    with running_sentinels() as running:
        yield running


def test_sentinels_name_the_master_as_real_ones(sentinels: SentinelSet) -> None:
    """The number of the configuration grows with a failover."""
    simulated = Sentinel(MasterView(0, "127.0.0.1", sentinels.master.port))
    for failovers in range(2):
        with Line(sentinels.sentinels[0].port) as real:
            line = SimulatedLine(simulated)
            assert line.ask(b"CLIENT", b"SETINFO", b"LIB-NAME", b"x") == b"OK"
            for service in (SERVICE, "other"):
                words = (b"SENTINEL", b"MASTER", service.encode())
                theirs, ours = real.ask(*words), line.ask(*words)
                if service == "other":
                    assert ours == theirs
                    continue
                about, known = (dict(zip(each[::2], each[1::2], strict=True)) for each in (theirs, ours))
                assert (about[b"ip"], about[b"port"]) == (known[b"ip"], known[b"port"])
                assert (int(about[b"config-epoch"]) > 0) == (int(known[b"config-epoch"]) > 0)
        if not failovers:
            sentinels.failover()
            sentinels.until_whole()
            simulated.learn(MasterView(1, "127.0.0.1", sentinels.master.port))


def test_a_demoted_master_serves_its_subscribers(sentinels: SentinelSet) -> None:
    """Its connections stay: it refuses writes, reads the new master's data, and passes its messages on."""
    former, new = RedisServer(), RedisServer()
    new.follow(former)
    with Line(sentinels.master.port) as listener, Line(sentinels.master.port) as line:
        ours, other = SimulatedLine(former), SimulatedLine(former)
        for each in (listener, ours):
            assert each.ask(b"SUBSCRIBE", b"news") == [b"subscribe", b"news", 1]
        sentinels.swap()
        new.lead(former.copy_of_data())
        former.follow(new)
        assert other.ask(b"SET", b"a", b"x") == line.ask(b"SET", b"a", b"x")
        with Line(sentinels.master.port) as at_master:
            for master in (at_master, SimulatedLine(new)):
                assert master.ask(b"SET", b"a", b"new") == b"OK"
            until(lambda: bool(line.ask(b"GET", b"a") == b"new"), "the former master does not follow")
            assert other.ask(b"GET", b"a") == b"new"
            for master in (at_master, SimulatedLine(new)):
                assert master.ask(b"PUBLISH", b"news", b"x") == 0
        assert ours.read() == listener.read() == [b"message", b"news", b"x"]
        with pytest.raises(RedisError, match="READONLY"):
            former.run([b"EVAL", b"#!lua flags=allow-oom\nreturn 1", b"0"])
        assert "READONLY" in line.ask(b"EVAL", b"#!lua flags=allow-oom\nreturn 1", b"0")
