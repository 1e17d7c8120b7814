"""How Redis is installed in a world: one server, a master that Sentinels name, or a cluster; and its faults.

Faults name `redis`; the installation says which host that is when a fault begins.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import structs
from redis.crc import key_slot

from world.faults import Fault
from world.redis_cluster import Address, Cluster, Node
from world.redis_data import Data
from world.redis_pair import Pair
from world.redis_server import Answering, RedisConnection, RedisServer
from world.sentinels import PORT as SENTINEL_PORT
from world.sentinels import SERVICE, MasterView, Sentinel

if TYPE_CHECKING:
    from world.world import World

PORT: Final = 6379
_SENTINELS: Final = tuple(f"sentinel-{number}" for number in (1, 2, 3))
_SHARDS: Final = 3
#: How many worlds have Sentinels, and how many a cluster.
_SENTINEL_SHARE: Final = 1 / 8
_CLUSTER_SHARE: Final = 1 / 8
#: The share of faults that the installation draws; each half of its worlds has one.
_OWN: Final = (0.0, 0.5)
#: How a master is lost; see `Pair.fail_over`.
_WAYS: Final = ("crash", "power loss", "freeze", "planned")
_LOST_SECONDS: Final = (0.0, 0.1, 0.3, 0.6)
#: Seconds from a failover until a Sentinel knows the new master; at the fault's end all know it.
_LEARNS_SECONDS: Final = (0.0, 0.0, 0.1, 1.0, 5.0)


class Installation(Protocol):
    """The servers of a world's Redis."""

    url: str
    #: By host.
    servers: dict[str, RedisServer]
    #: Addresses whose subscriptions miss every message.
    unheard: set[str]

    def start(self) -> None:
        """Adds the hosts."""

    def draw_own(self, drawn: Sequence[Fault], world: "World") -> list[Fault]:
        """Returns faults with some of this installation's in place of others."""

    def locate(self, fault: Fault) -> Fault:
        """Returns the fault with the host that is `redis` now."""

    def copy_data(self, fault: Fault) -> None:
        """Remembers what a replica has some time before a failover."""

    def lose_data(self, fault: Fault) -> Callable[[], object]:
        """Restarts a master empty; returns what ends its absence."""

    def fail_over(self, fault: Fault) -> Callable[[], object]:
        """Makes a replica the master; returns what ends the failover."""

    def move_slot(self, fault: Fault) -> Callable[[], object]:
        """Moves a slot to another shard; returns what moves it back."""


def make(world: "World", seed: int) -> Installation:
    """Draws an installation."""
    drawn = random.Random(f"redis of {seed}").random()
    if drawn < _SENTINEL_SHARE:
        return WatchedPair(world, seed)
    return ClusterOfPairs(world, seed) if drawn < _SENTINEL_SHARE + _CLUSTER_SHARE else OneServer(world)


async def _serve(world: "World", server: Answering, host: str, port: int) -> None:
    await world.loop.create_server(lambda: RedisConnection(server), host, port)
    await asyncio.Event().wait()


class OneServer:
    """One server at one address; a failover puts a replica's data there."""

    url = f"redis://redis:{PORT}"

    def __init__(self, world: "World") -> None:
        self._world = world
        self._server = RedisServer()
        self.servers: dict[str, RedisServer] = {"redis": self._server}
        self.unheard = self._server.unheard
        self._copied: Data | None = None

    def start(self) -> None:
        """See Installation."""
        self._world.add("redis", partial(_serve, self._world, self._server, "redis", PORT))

    def draw_own(self, drawn: Sequence[Fault], _: "World") -> list[Fault]:
        """See Installation."""
        return [*drawn]

    def locate(self, fault: Fault) -> Fault:
        """See Installation."""
        return fault

    def copy_data(self, _: Fault) -> None:
        """See Installation."""
        self._copied = self._server.copy_of_data()

    def lose_data(self, _: Fault) -> Callable[[], object]:
        """See Installation."""
        return self._restart(None)

    def fail_over(self, _: Fault) -> Callable[[], object]:
        """See Installation."""
        return self._restart(self._copied)

    def move_slot(self, fault: Fault) -> Callable[[], object]:
        """See Installation."""
        raise NotImplementedError(f"one server has no slots: {fault}")

    def _restart(self, data: Data | None) -> Callable[[], object]:
        if self._world.processes["redis"].is_alive:
            self._world.kill("redis")
        self._server.restart(data)
        self._world.note_loss(self._server)
        return lambda: self._world.start_again("redis")


class _Pairs:
    """Masters with a replica each."""

    def __init__(self, world: "World", seed: int) -> None:
        self._world = world
        self._seed = seed
        self.unheard: set[str] = set()
        self.servers: dict[str, RedisServer] = {}
        self.pairs: list[Pair] = []

    def start(self) -> None:
        """See Installation."""
        for host, server in self.servers.items():
            server.unheard = self.unheard
            self._world.add(host, partial(_serve, self._world, server, host, PORT))

    def draw_own(self, drawn: Sequence[Fault], world: "World") -> list[Fault]:
        """See Installation."""
        chance = random.Random(f"faults of redis of {self._seed}")
        clients = [name for name in world.hosts if name.startswith(("ingest", "worker", "edge"))]
        found: list[Fault] = []
        own = chance.choice(_OWN)
        for fault in drawn:
            if fault.kind == "failover" or chance.random() < own:
                seconds = chance.choice((0.3, 1.0, 2.5, 4.0)) * chance.uniform(0.8, 1.2)
                found += self._draw(chance, fault.at, seconds, clients)
            else:
                found.append(fault)
        return found

    def locate(self, fault: Fault) -> Fault:
        """See Installation."""
        hosts = {"redis": self._pair_of(fault).master}
        target, other = (hosts.get(name, name) for name in (fault.target, fault.other))
        return structs.replace(fault, target=target, other=other)

    def copy_data(self, fault: Fault) -> None:
        """See Installation."""
        self._pair_of(fault).copy_data()

    def lose_data(self, fault: Fault) -> Callable[[], object]:
        """See Installation."""
        return self._pair_of(fault).lose_data()

    def fail_over(self, fault: Fault) -> Callable[[], object]:
        """See Installation."""
        return self._pair_of(fault).fail_over(fault)

    def _pair_of(self, fault: Fault) -> Pair:
        # It follows from the fault alone, so that it stays the same in a world with fewer faults.
        return random.Random(f"{self._seed} {fault.at}").choice(self.pairs)

    def _draw(self, chance: random.Random, at: float, seconds: float, clients: list[str]) -> list[Fault]:
        raise NotImplementedError

    def _add_host(self, name: str) -> str:
        host = self._world.hosts[name] = self._world.new_host(name)
        return host.address


def _draw_failover(chance: random.Random, at: float, seconds: float, ways: Sequence[str]) -> Fault:
    amount, detail = chance.choice(_LOST_SECONDS), chance.choice(ways)
    return Fault("failover", at, seconds, "redis", amount=amount, detail=detail)


class WatchedPair(_Pairs):
    """A master and its replica, watched by three Sentinels: they name the master to those who connect."""

    url = f"redis+sentinel://{','.join(f'{host}:{SENTINEL_PORT}' for host in _SENTINELS)}/{SERVICE}"

    def __init__(self, world: "World", seed: int) -> None:
        super().__init__(world, seed)
        for host in ("redis-1", "redis-2"):
            self._add_host(host)
            self.servers[host] = RedisServer()
        self.pairs = [Pair(world, self.servers, *self.servers, on_promotion=self._promote)]
        self._view = MasterView(0, world.hosts["redis-1"].address, PORT)
        self._sentinels = {host: Sentinel(self._view) for host in _SENTINELS}

    def start(self) -> None:
        """See Installation."""
        super().start()
        for host, sentinel in self._sentinels.items():
            self._world.add(host, partial(_serve, self._world, sentinel, host, SENTINEL_PORT))

    def fail_over(self, fault: Fault) -> Callable[[], object]:
        """See Installation; some Sentinels name the former master until the end."""
        end = super().fail_over(fault)

        def finish() -> None:
            end()
            for sentinel in self._sentinels.values():
                sentinel.learn(self._view)

        return finish

    def move_slot(self, fault: Fault) -> Callable[[], object]:
        """See Installation."""
        raise NotImplementedError(f"no slots without a cluster: {fault}")

    def _promote(self) -> None:
        address = self._world.hosts[self.pairs[0].master].address
        self._view = MasterView(self._view.config_epoch + 1, address, PORT)
        chance = random.Random(f"failover {self._view.config_epoch} of {self._seed}")
        leader, *others = chance.sample([*self._sentinels.values()], len(self._sentinels))
        leader.learn(self._view)
        for sentinel in others:
            self._world.loop.call_later(chance.choice(_LEARNS_SECONDS), sentinel.learn, self._view)

    def _draw(self, chance: random.Random, at: float, seconds: float, clients: list[str]) -> list[Fault]:
        sentinel, client = chance.choice(_SENTINELS), chance.choice(clients)
        match chance.choice(("failover", "failover", "away", "all away", "late", "cut off")):
            case "away":
                return [Fault(chance.choice(("kill", "power loss", "freeze")), at, seconds, sentinel)]
            case "all away":
                return [Fault("kill", at, seconds, each) for each in _SENTINELS]
            case "late":
                return [Fault("slow line", at, seconds, sentinel, client, chance.choice((0.2, 1.0)))]
            case "cut off":
                return [Fault("partition", at, seconds, client, sentinel)]
        return [_draw_failover(chance, at, seconds, (*_WAYS, "split"))]


class ClusterOfPairs(_Pairs):
    """A cluster of three shards, each a master with its replica."""

    url = f"redis+cluster://redis-1:{PORT},redis-2:{PORT},redis-3:{PORT}"

    def __init__(self, world: "World", seed: int) -> None:
        super().__init__(world, seed)
        self._cluster = Cluster(_SHARDS)
        for number in range(2 * _SHARDS):
            host = f"redis-{number + 1}"
            address = Address(self._add_host(host), PORT)
            self.servers[host] = Node(self._cluster, number % _SHARDS, address)
        hosts = [*self.servers]
        for shard in range(_SHARDS):
            self.pairs.append(
                Pair(
                    world,
                    self.servers,
                    hosts[shard],
                    hosts[shard + _SHARDS],
                    on_promotion=partial(self._cluster.promote, shard),
                    on_loss=partial(self._cluster.lost.add, shard),
                )
            )

    def move_slot(self, fault: Fault) -> Callable[[], object]:
        """See Installation."""
        slot = key_slot(fault.detail.encode())
        here = self._cluster.shard_of(slot)
        there = random.Random(f"{self._seed} {fault.at}").choice(
            [shard for shard in range(_SHARDS) if shard != here]
        )
        self._move(slot, there)
        return partial(self._move, slot, here)

    def _move(self, slot: int, shard: int) -> None:
        # A slot moves from a master to another one.
        for pair in self.pairs:
            pair.settle()
        if self._cluster.shard_of(slot) != shard:
            self._cluster.move(slot, shard)

    def _draw(self, chance: random.Random, at: float, seconds: float, clients: list[str]) -> list[Fault]:
        del clients
        if chance.random() < 1 / 3:
            names = [*map(str, self._world.venues), f"{self._world.settings.redis_prefix}:alerts"]
            return [Fault("moved slot", at, seconds, "redis", detail=chance.choice(names))]
        return [_draw_failover(chance, at, seconds, _WAYS)]
