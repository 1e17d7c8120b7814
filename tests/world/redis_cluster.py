"""Nodes of a Redis Cluster for worlds: each answers for its shard's slots, and redirects clients for others.

`test_installations.py` holds them to Valkey. All nodes learn of a failover and of a moved slot at once.
"""

import hashlib
import time
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from world.redis_data import COMMANDS, RedisError, Status
from world.redis_server import RedisConnection, RedisServer

_SLOTS: Final = REDIS_CLUSTER_HASH_SLOTS
_CROSS: Final = "CROSSSLOT Keys in request don't hash to the same slot"
_CROSS_IN_SCRIPT: Final = "ERR Script attempted to access keys that do not hash to the same slot"
_FAR_IN_SCRIPT: Final = "ERR Attempted to access a non local key in a cluster node"
_DOWN: Final = "CLUSTERDOWN The cluster is down"
_CHANNELS: Final = {b"SPUBLISH", b"SSUBSCRIBE"}
#: Commands whose words are all keys.
_ALL_KEYS: Final = {b"DEL", b"EXISTS"}


class Address(NamedTuple):
    """Where clients find a node."""

    host: str
    port: int


class Cluster:
    """Which shard has each slot, and which node of a shard is its master: what all nodes agree on."""

    def __init__(self, shards: int) -> None:
        #: The nodes of each shard, its master first.
        self.shards: list[list[Node]] = [[] for _ in range(shards)]
        ends = [_SLOTS * number // shards for number in range(1, shards + 1)]
        self._shard_of = [bisect(ends, slot) for slot in range(_SLOTS)]
        #: The shards whose master is gone, by the votes of the others, which answer nothing meanwhile.
        self.lost: set[int] = set()

    def shard_of(self, slot: int) -> int:
        """Returns the number of the shard that has a slot."""
        return self._shard_of[slot]

    def master_of(self, slot: int) -> "Node":
        """Returns the node that answers for a slot."""
        return self.shards[self._shard_of[slot]][0]

    def promote(self, shard: int) -> None:
        """Makes the second node of a shard its master; subscriptions at both end."""
        self.shards[shard].reverse()
        self.lost.discard(shard)
        for node in self.shards[shard]:
            node.end_subscriptions(lambda _: True)

    def move(self, slot: int, shard: int) -> None:
        """Moves a slot with its keys; subscriptions to its channels end."""
        former = self._shard_of[slot]
        self.master_of(slot).data.give(self.shards[shard][0].data, lambda key: key_slot(key) == slot)
        self._shard_of[slot] = shard
        for node in self.shards[former]:
            node.end_subscriptions(lambda each: each == slot)

    def ranges(self) -> Iterator[tuple[int, int, int]]:
        """Yields the first and the last slot of each range, and its shard."""
        first = 0
        for shard, slots in groupby(self._shard_of):
            after = first + sum(1 for _ in slots)
            yield first, after - 1, shard
            first = after


class Node(RedisServer):
    """A node; the first of its shard is the master of the second."""

    def __init__(
        self, cluster: Cluster, shard: int, address: Address, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(clock)
        self.address = address
        self._cluster = cluster
        self._shard = shard
        cluster.shards[shard].append(self)
        #: Of the script that runs: the slots that it may use; None for all of the shard.
        self._script_slots: set[int] | None = None
        self._runs_script = False

    def run(self, words: Sequence[bytes]) -> Any:
        """Returns the answer to a command. Raises RedisError, with MOVED for keys of other shards."""
        name = words[0].upper()
        match name:
            case b"CLUSTER":
                return [self._range(*each) for each in self._cluster.ranges()]
            case b"COMMAND":
                return [*map(_command, sorted(COMMANDS)), _command(b"SPUBLISH")]
        if slots := {key_slot(key) for key in _keys(name, words)}:
            if self._runs_script:
                self._check_in_script(slots)
            else:
                self._check(name, slots)
        return super().run(words)

    def subscribe(self, verb: bytes, channel: bytes, connection: RedisConnection) -> None:
        """Sends the channel's messages to the connection. Raises RedisError."""
        if verb in _CHANNELS:
            self._check(verb, {key_slot(channel)})
        super().subscribe(verb, channel, connection)

    def end_subscriptions(self, ends: Callable[[int], bool]) -> None:
        """Ends the subscriptions to the channels of some slots: another node has them."""
        for kind, channel in [*self._subscribers]:
            if kind == b"smessage" and ends(key_slot(channel)):
                for connection in self._subscribers.pop((kind, channel)):
                    connection.send([b"sunsubscribe", channel, 0])

    def _check(self, name: bytes, slots: set[int]) -> None:
        if len(slots) > 1:
            raise RedisError(_CROSS)
        (slot,) = slots
        if self._cluster.lost and name not in _CHANNELS:
            raise RedisError(_DOWN)
        master = self._cluster.master_of(slot)
        is_ours = name in _CHANNELS and self._cluster.shard_of(slot) == self._shard
        if master is not self and not is_ours:
            raise RedisError(f"MOVED {slot} {master.address.host}:{master.address.port}")

    def _check_in_script(self, slots: set[int]) -> None:
        if any(self._cluster.shard_of(slot) != self._shard for slot in slots):
            raise RedisError(_FAR_IN_SCRIPT)
        if self._script_slots is not None:
            self._script_slots |= slots
            if len(self._script_slots) > 1:
                raise RedisError(_CROSS_IN_SCRIPT)

    def _evaluate(self, digest: bytes, words: Sequence[bytes]) -> Any:
        _, flags = self._scripts.get(digest.lower(), (None, None))
        # Scripts without a line of flags are held to their shard only.
        self._script_slots = None if flags is None else {*map(key_slot, words[1 : 1 + int(words[0])])}
        self._runs_script = True
        try:
            return super()._evaluate(digest, words)
        finally:
            self._runs_script = False

    def _range(self, first: int, last: int, shard: int) -> list[Any]:
        master, *others = self._cluster.shards[shard]
        return [first, last, master.named(), *(each.named() for each in others if each.is_replica)]

    def named(self) -> list[Any]:
        """Returns the node as `CLUSTER SLOTS` names it."""
        host, port = self.address
        name = hashlib.sha1(f"{host}:{port}".encode(), usedforsecurity=False).hexdigest()
        return [host.encode(), port, name.encode(), []]


def _keys(name: bytes, words: Sequence[bytes]) -> Sequence[bytes]:
    """Returns the keys and sharded channels of a command."""
    if name in {b"EVAL", b"EVALSHA"}:
        return words[3 : 3 + int(words[2])]
    if name in _ALL_KEYS:
        return words[1:]
    return words[1:2] if name in _CHANNELS or (name in COMMANDS and name != b"TIME") else ()


def _command(name: bytes) -> list[Any]:
    """Returns what `COMMAND` says of a command, as far as clients look for its keys."""
    flags = [Status("pubsub")] if name in _CHANNELS else []
    has_keys = name != b"TIME"
    return [name.lower(), -1, flags, int(has_keys), -1 if name in _ALL_KEYS else int(has_keys), int(has_keys)]
