"""The Sentinels and the cluster of simulated worlds answer as real ones do."""

import random
import socket
from collections.abc import Iterator, Sequence
from typing import Any, Self

import hiredis
import pytest
import redis
from redis.crc import key_slot

from support.runs.deadlines import scaled
from support.servers.cluster import NODES, follows, running_cluster
from support.servers.sentinel_set import Pair, SentinelSet, running_pair, running_sentinels, until
from world.redis_cluster import Address, Cluster, Node
from world.redis_data import COMMANDS, RedisError
from world.redis_server import RedisConnection, RedisServer
from world.sentinels import SERVICE, MasterView, Sentinel

pytestmark = pytest.mark.slow

#: Keys of all three nodes, two of which share a slot.
KEYS = (b"a", b"b", b"c", b"{a}x", b"d")
SCRIPTS = (
    b"return redis.call('GET', KEYS[1])",
    b"return redis.call('GET', 'a')",
    b"return redis.call('GET', KEYS[1]) or redis.call('GET', 'd')",
    b"return redis.call('SPUBLISH', 'a', 'x')",
    b"#!lua flags=allow-oom\nreturn redis.call('SET', KEYS[1], 'x')",
    b"#!lua flags=allow-oom\nreturn redis.call('GET', 'a') or redis.call('GET', 'd')",
    b"#!lua flags=allow-oom\nreturn redis.call('SET', 'b', 'x')",
)


def _packed(words: Sequence[bytes]) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)


class Line:
    """A connection to a real server that answers in the words of the protocol."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=scaled(30))
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


class Both:
    """A real cluster and a simulated one at the same addresses; the last node follows the first."""

    def __init__(self, ports: Sequence[int]) -> None:
        self.lines = [Line(port) for port in ports]
        self.cluster = Cluster(NODES)
        shards = [*range(NODES), 0]
        self.nodes = [
            Node(self.cluster, shard, Address("127.0.0.1", port))
            for shard, port in zip(shards, ports, strict=True)
        ]
        self.nodes[-1].follow(self.nodes[0])
        self.simulated = [SimulatedLine(node) for node in self.nodes]

    def compare(self, number: int, *words: bytes) -> Any:
        """Asks a node of each cluster; returns what both answer."""
        real, simulated = self.lines[number].ask(*words), self.simulated[number].ask(*words)
        assert simulated == real, (number, words)
        return real

    def slots(self, number: int) -> tuple[list[Any], list[Any]]:
        """Returns the ranges by a real and by a simulated node, each with its addresses."""
        answers = [each[number].ask(b"CLUSTER", b"SLOTS") for each in (self.lines, self.simulated)]
        real, simulated = [
            sorted([first, last, *(node[:2] for node in nodes)] for first, last, *nodes in answer)
            for answer in answers
        ]
        return real, simulated


@pytest.fixture
def both() -> Iterator[Both]:
    """Yields both clusters, with a replica of the first master."""
    with running_cluster(spare=1) as nodes:
        ports = [*nodes]
        with redis.Redis(port=ports[0]) as first, redis.Redis(port=ports[-1]) as last:
            name: Any = first.execute_command("CLUSTER MYID")
            until(lambda: follows(last, name), "the replica does not follow")
        pair = Both(ports)
        until(
            lambda: all(real == simulated for real, simulated in map(pair.slots, range(len(ports)))),
            "the nodes do not agree",
        )
        yield pair
        for line in pair.lines:
            line.close()


def _drawn(chance: random.Random) -> list[bytes]:
    key, other = chance.choice(KEYS), chance.choice(KEYS)
    return chance.choice(
        [
            [b"GET", key],
            [b"SET", key, b"x"],
            [b"DEL", key, other],
            [b"EXISTS", key, other],
            [b"RPUSH", key + b"l", b"x"],
            [b"SPUBLISH", key, b"x"],
            [b"EVAL", chance.choice(SCRIPTS), b"2", key, other],
            [b"EVAL", chance.choice(SCRIPTS), b"1", key],
        ]
    )


def test_nodes_of_a_cluster_answer_as_real_ones(both: Both) -> None:
    """For their own keys, for those of others, and for several at once, in commands and in scripts."""
    chance = random.Random(1)
    answers = [str(both.compare(chance.randrange(NODES + 1), *_drawn(chance))) for _ in range(1500)]
    for word in ("MOVED", "CROSSSLOT", "non local key", "do not hash to the same slot", "None", "OK"):
        assert any(word in answer for answer in answers), word


def test_commands_have_their_keys_where_they_are(both: Both) -> None:
    """Clients of a cluster read from `COMMAND` which words are keys."""
    known = {each[0]: each for each in both.simulated[0].ask(b"COMMAND")}
    assert {*known} == {name.lower() for name in COMMANDS} | {b"spublish"}
    for name, simulated in known.items():
        (real,) = both.lines[0].ask(b"COMMAND", b"INFO", name)
        assert simulated[3:6] == real[3:6], name
        wanted = {b"pubsub", b"movablekeys"}
        assert wanted.intersection(simulated[2]) == wanted.intersection(real[2]), name


def test_a_failover_ends_the_subscriptions_of_its_shard(both: Both) -> None:
    """At the former master and at its replica; then the former master sends clients to the new one."""
    for number in (0, NODES):
        assert both.compare(number, b"SSUBSCRIBE", b"b") == [b"ssubscribe", b"b", 1]
    assert both.compare(1, b"SSUBSCRIBE", b"b") == both.compare(2, b"GET", b"b")
    with Line(both.nodes[-1].address.port) as line:
        assert line.ask(b"CLUSTER", b"FAILOVER") == b"OK"
    both.nodes[-1].lead(both.nodes[0].data)
    both.nodes[0].follow(both.nodes[-1])
    both.cluster.promote(0)
    for number in (0, NODES):
        assert both.simulated[number].read() == both.lines[number].read() == [b"sunsubscribe", b"b", 0]
    until(lambda: both.slots(1)[0] == both.slots(1)[1], "no replica is promoted")
    assert "MOVED" in both.compare(0, b"SET", b"b", b"y")
    assert both.compare(NODES, b"SET", b"b", b"y") == b"OK"
    assert "MOVED" in both.compare(1, b"GET", b"b")


def test_a_moved_slot_ends_its_subscriptions(both: Both) -> None:
    """Its former node sends clients on."""
    slot = key_slot(b"b")
    assert both.compare(0, b"SSUBSCRIBE", b"b") == [b"ssubscribe", b"b", 1]
    with Line(both.nodes[1].address.port) as target, Line(both.nodes[0].address.port) as source:
        name = target.ask(b"CLUSTER", b"MYID")
        for line in (target, source):
            assert line.ask(b"CLUSTER", b"SETSLOT", b"%d" % slot, b"NODE", name) == b"OK"
        # Else the nodes believe the one with the higher epoch, and a new cluster draws epochs.
        assert target.ask(b"CLUSTER", b"BUMPEPOCH").startswith((b"BUMPED", b"STILL"))
    both.cluster.move(slot, 1)
    assert both.simulated[0].read() == both.lines[0].read() == [b"sunsubscribe", b"b", 0]
    until(lambda: both.slots(2)[0] == both.slots(2)[1], "the slot has not moved")
    assert "MOVED" in both.compare(0, b"GET", b"b")
    assert "MOVED" in both.compare(2, b"GET", b"b")
    assert both.compare(1, b"SET", b"b", b"y") == b"OK"


def test_a_cluster_without_a_master_is_down(both: Both) -> None:
    """All nodes refuse commands with keys; messages of channels pass."""
    for line in both.lines:
        line.ask(b"CONFIG", b"SET", b"cluster-node-timeout", b"500")
    with redis.Redis(port=both.nodes[1].address.port) as gone:
        gone.shutdown(nosave=True)
    both.cluster.lost.add(1)
    until(lambda: "DOWN" in str(both.lines[0].ask(b"GET", b"b")), "the cluster is not down")
    for words in ([b"GET", b"b"], [b"SET", b"a", b"x"], [b"EVAL", SCRIPTS[0], b"1", b"b"]):
        assert "CLUSTERDOWN" in both.compare(0, *words)
    assert both.compare(0, b"SPUBLISH", b"b", b"x") == 0
    assert "CROSSSLOT" in both.compare(0, b"DEL", b"a", b"b")


@pytest.fixture
def sentinels() -> Iterator[SentinelSet]:
    """Yields a master with its replica, and Sentinels."""
    with running_sentinels() as running:
        yield running


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Yields a master with its replica, which no Sentinel swaps back."""
    with running_pair() as running:
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


def test_a_demoted_master_serves_its_subscribers(pair: Pair) -> None:
    """Its connections stay: it refuses writes, reads the new master's data, and passes its messages on."""
    former, new = RedisServer(), RedisServer()
    new.follow(former)
    with Line(pair.master.port) as listener, Line(pair.master.port) as line:
        ours, other = SimulatedLine(former), SimulatedLine(former)
        for each in (listener, ours):
            assert each.ask(b"SUBSCRIBE", b"news") == [b"subscribe", b"news", 1]
        pair.swap()
        new.lead(former.copy_of_data())
        former.follow(new)
        assert other.ask(b"SET", b"a", b"x") == line.ask(b"SET", b"a", b"x")
        with Line(pair.master.port) as at_master:
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
