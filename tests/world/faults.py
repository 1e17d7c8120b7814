"""The faults of a world: each has a time, a target and a length, and a seed draws them."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

from msgspec import Struct

from quotecast.errors import UpstreamError
from quotecast.providers.base import Update
from world.postgres_server import REFUSALS

if TYPE_CHECKING:
    from world.redis_server import RedisServer, Refusal
    from world.world import World

_CommonKind = Literal[
    "kill",
    "power loss",
    "stop",
    "freeze",
    "partition",
    "one-way partition",
    "slow line",
    "reset",
    "lost messages",
    "slow reader",
    "clock step",
    "clock drift",
    "empty redis",
    "failover",
    "refused writes",
    "silent venue",
    "broken venue",
    "old quotes",
    "newer release",
    "refused rows",
    "lost answers",
    "refusing receiver",
]
_DiskKind = Literal["full disk", "broken disk"]
#: The others have generators of their own; see `installations`, `recordings` and `watchers`.
Kind = Literal[_CommonKind, _DiskKind, "moved slot"]
DISK_KINDS: Final[tuple[Kind, ...]] = get_args(_DiskKind)
KINDS: Final[tuple[Kind, ...]] = get_args(_CommonKind)


#: How often a worker's line is the one to Redis.
_TO_REDIS: Final = 0.7
#: How often the line of an ingest or a worker is the one to PostgreSQL.
_TO_POSTGRES: Final = 0.3

_STEPS: Final = (-30.0, -2.0, -0.1, 0.1, 2.0, 30.0)
_DRIFTS: Final = (-0.1, -0.01, 0.01, 0.1)


class Fault(Struct, frozen=True):
    """One fault: it begins at a second of the world and lasts for some."""

    kind: Kind
    at: float
    seconds: float
    target: str
    other: str = ""
    #: Seconds of a clock's step, of its drift in each second, and of a line's delay; the lost seconds of a
    #: failover.
    amount: float = 0.0
    detail: str = ""

    def __str__(self) -> str:
        """Returns the fault in words."""
        between = f" and {self.other}" if self.other else ""
        each = " a second" if self.kind == "clock drift" else ""
        amount = f" by {self.amount:g} s{each}" if self.amount else ""
        detail = f" ({self.detail})" if self.detail else ""
        return (
            f"{self.at:.3f} s: {self.kind} of {self.target}{between}{amount}{detail} for {self.seconds:.2f} s"
        )


def draw(world: "World", chance: random.Random, count: int, first: float, last: float) -> list[Fault]:
    """Returns faults between two seconds of a world, in the order of their times.

    A world has some kinds of them only: what one kind hides, another world shows.
    """
    kinds = chance.sample(KINDS, chance.randint(2, 8))
    drawn = [
        _draw_one(world, chance, chance.choice(kinds), chance.uniform(first, last)) for _ in range(count)
    ]
    return world.redis.draw_own(sorted(drawn, key=lambda fault: fault.at), world)


def _draw_one(world: "World", chance: random.Random, kind: Kind, at: float) -> Fault:
    servers = [name for name in world.hosts if name.startswith(("ingest", "worker", "edge"))]
    receivers = [each.name for each in world.receivers]
    stores = ["redis", "postgres"]
    seconds = chance.choice((0.05, 0.3, 1.0, 2.5, 3.5, 6.0)) * chance.uniform(0.8, 1.2)
    other, amount = "", 0.0
    match kind:
        case "kill" | "power loss" | "stop":
            target = chance.choice([*servers, *receivers, "postgres"])
        case "freeze":
            target = chance.choice([*servers, *receivers, *stores])
        case "partition" | "one-way partition" | "slow line" | "reset":
            target, other = _draw_line(chance, world, servers)
            amount = chance.choice((0.02, 0.2, 1.0)) if kind == "slow line" else 0.0
        case "lost messages":
            return lost_messages(world, chance, at, seconds)
        case "slow reader":
            target = chance.choice([each.name for each in world.frontends])
            amount = chance.choice((0.5, 3.0))
        case "clock step" | "clock drift":
            target = chance.choice([*servers, *stores])
            amount = chance.choice(_STEPS if kind == "clock step" else _DRIFTS)
        case "silent venue" | "broken venue" | "old quotes" | "newer release":
            target = chance.choice([name for name in servers if name.startswith("ingest")])
            other = "" if kind == "newer release" else chance.choice([*world.venues])
        case "refusing receiver":
            return Fault(kind, at, seconds, chance.choice(receivers), detail=chance.choice(("429", "500")))
        case "empty redis" | "failover" | "refused writes" | "refused rows" | "lost answers":
            return _draw_of_stores(chance, kind, at, seconds)
    return Fault(kind, at, seconds, target, other, amount)


def _draw_of_stores(chance: random.Random, kind: Kind, at: float, seconds: float) -> Fault:
    if kind == "lost answers":
        return Fault(kind, at, seconds, chance.choice(("redis", "postgres")))
    if kind == "refused rows":
        return Fault(kind, at, seconds, "postgres", detail=chance.choice([*REFUSALS]))
    if kind == "refused writes":
        return Fault(kind, at, seconds, "redis", detail=chance.choice(("readonly", "oom", "misconf")))
    lost = chance.choice((0.0, 0.1, 0.3, 0.6)) if kind == "failover" else 0.0
    return Fault(kind, at, chance.choice((0.05, 0.5, 2.0)), "redis", amount=lost)


def _draw_line(chance: random.Random, world: "World", servers: Sequence[str]) -> tuple[str, str]:
    """Returns two hosts that speak with each other."""
    pages = [name for name in world.hosts if name.startswith(("page", "reader"))]
    receivers = [each.name for each in world.receivers]
    near = chance.choice([*servers, *receivers, *pages])
    if near in receivers:
        far = chance.choice([name for name in servers if name.startswith("ingest")])
        return (near, far) if chance.random() < 1 / 2 else (far, near)
    workers = [name for name in servers if name.startswith("worker") and name != near]
    asks_redis = near.startswith("ingest") or (near.startswith("worker") and chance.random() < _TO_REDIS)
    far = "redis" if asks_redis or not workers else chance.choice(workers)
    if near.startswith(("ingest", "worker")) and chance.random() < _TO_POSTGRES:
        far = "postgres"
    return (near, far) if chance.random() < 1 / 2 else (far, near)


def lost_messages(world: "World", chance: random.Random, at: float, seconds: float) -> Fault:
    """Returns the loss of all messages to one worker."""
    workers = [name for name in world.hosts if name.startswith("worker")]
    return Fault("lost messages", at, seconds, chance.choice(workers))


def schedule(world: "World", faults: Sequence[Fault]) -> None:
    """Lets the faults happen."""
    for fault in faults:
        if fault.kind == "failover":
            world.loop.call_at(max(0.0, fault.at - fault.amount), world.redis.copy_data, fault)
        world.loop.call_at(fault.at, _begin, world, fault)


#: Begins a fault, and returns what ends it.
_Start = Callable[["World", Fault], Callable[[], object]]


def _begin(world: "World", fault: Fault) -> None:
    fault = world.redis.locate(fault)
    world.note(f"begins {fault.kind} of {fault.target}{' and ' + fault.other if fault.other else ''}")
    end = _STARTS[fault.kind](world, fault)

    def finish() -> None:
        world.note(f"ends {fault.kind} of {fault.target}{' and ' + fault.other if fault.other else ''}")
        end()

    world.loop.call_later(fault.seconds, finish)


def _kill(world: "World", fault: Fault) -> Callable[[], object]:
    process = world.processes[fault.target]
    if process.is_alive:
        world.kill(fault.target, silently=fault.kind == "power loss")
        if fault.target == "postgres":
            world.postgres.restart()
    return lambda: world.start_again(fault.target)


def _upgrade(world: "World", fault: Fault) -> Callable[[], object]:
    """Runs a newer release for a while, and the present one again."""
    host = world.hosts[fault.target]

    def restart(*, is_newer: bool) -> None:
        if world.processes[fault.target].is_alive:
            world.kill(fault.target)
        host.is_newer = is_newer
        world.start_again(fault.target)

    restart(is_newer=True)
    return partial(restart, is_newer=False)


def _refuse_rows(world: "World", fault: Fault) -> Callable[[], object]:
    world.postgres.refusal = fault.detail
    return lambda: setattr(world.postgres, "refusal", "")


def _lose_answers(world: "World", fault: Fault) -> Callable[[], object]:
    server: Any = world.redis.servers.get(fault.target, world.postgres)
    server.loses_answers = True
    return lambda: setattr(server, "loses_answers", False)


def _stop(world: "World", fault: Fault) -> Callable[[], object]:
    if world.processes[fault.target].is_alive:
        world.stop(fault.target)
    return lambda: world.start_again(fault.target)


def _freeze(world: "World", fault: Fault) -> Callable[[], object]:
    process = world.processes[fault.target]
    process.freeze()
    return process.thaw


def _cut(world: "World", fault: Fault) -> Callable[[], object]:
    network = world.network
    ways = [(fault.target, fault.other)]
    if fault.kind == "partition":
        ways.append((fault.other, fault.target))
    for way in ways:
        network.cut(*way)

    def heal() -> None:
        for way in ways:
            network.heal(*way)

    return heal


def _slow_line(world: "World", fault: Fault) -> Callable[[], object]:
    way, delays = (fault.target, fault.other), world.network.delays
    delays[way] = fault.amount
    return lambda: delays.pop(way, None)


def _reset(world: "World", fault: Fault) -> Callable[[], object]:
    world.network.reset(fault.target, fault.other)
    return lambda: None


def _lose_messages(world: "World", fault: Fault) -> Callable[[], object]:
    address = world.hosts[fault.target].address
    world.redis.unheard.add(address)
    return lambda: world.redis.unheard.discard(address)


def _slow_reader(world: "World", fault: Fault) -> Callable[[], object]:
    frontend = next(each for each in world.frontends if each.name == fault.target)
    frontend.pause = fault.amount
    return lambda: setattr(frontend, "pause", 0.0)


def _step_clock(world: "World", fault: Fault) -> Callable[[], object]:
    host = world.hosts[fault.target]
    host.clock_offset += fault.amount

    def step_back() -> None:
        host.clock_offset -= fault.amount

    return step_back


def _answer_otherwise(world: "World", fault: Fault) -> Callable[[], object]:
    receiver = next(each for each in world.receivers if each.name == fault.target)
    receiver.status = int(fault.detail)
    return lambda: setattr(receiver, "status", 200)


def _drift(world: "World", fault: Fault) -> Callable[[], object]:
    host = world.hosts[fault.target]
    host.drift(world.loop.now, 1.0 + fault.amount)
    return lambda: host.drift(world.loop.now, 1.0 / (1.0 + fault.amount))


def _empty(world: "World", fault: Fault) -> Callable[[], object]:
    return world.redis.lose_data(fault)


def _fill_disk(world: "World", fault: Fault) -> Callable[[], object]:
    disk = world.disks.of(fault.target)
    disk.room = int(fault.detail.split()[0])
    return lambda: setattr(disk, "room", None)


def _break_disk(world: "World", fault: Fault) -> Callable[[], object]:
    disk = world.disks.of(fault.target)
    disk.broken_share = 1.0 if fault.detail == "each call" else 0.5
    return lambda: setattr(disk, "broken_share", 0.0)


def _fail_over(world: "World", fault: Fault) -> Callable[[], object]:
    return world.redis.fail_over(fault)


def _move_slot(world: "World", fault: Fault) -> Callable[[], object]:
    return world.redis.move_slot(fault)


def _refuse(world: "World", fault: Fault) -> Callable[[], object]:
    server: RedisServer = world.redis.servers[fault.target]
    server.refuse(cast("Refusal", fault.detail))
    return lambda: server.refuse(None)


def _lines(world: "World", fault: Fault) -> list[Any]:
    venue = next(venue for feed, venue in world.venues.items() if feed == fault.other)
    return [line for line in venue.lines if line.process.host.name == fault.target]


def _silence(world: "World", fault: Fault) -> Callable[[], object]:
    lines = _lines(world, fault)
    for line in lines:
        line.fall_silent()
    return lambda: [line.speak() for line in lines]


def _break(world: "World", fault: Fault) -> Callable[[], object]:
    for line in _lines(world, fault):
        line.fail(UpstreamError("the venue ended the connection"))
    return lambda: None


def _go_back(world: "World", fault: Fault) -> Callable[[], object]:
    venue = next(venue for feed, venue in world.venues.items() if feed == fault.other)
    old = [*venue.quotes.values()]

    def repeat() -> None:
        for line in _lines(world, fault):
            line.send(Update(old))
            line.send(Update([*venue.quotes.values()], complete=True))

    return repeat


_STARTS: Final[dict[Kind, _Start]] = {
    "kill": _kill,
    "power loss": _kill,
    "stop": _stop,
    "freeze": _freeze,
    "partition": _cut,
    "one-way partition": _cut,
    "slow line": _slow_line,
    "reset": _reset,
    "lost messages": _lose_messages,
    "slow reader": _slow_reader,
    "clock step": _step_clock,
    "clock drift": _drift,
    "empty redis": _empty,
    "failover": _fail_over,
    "moved slot": _move_slot,
    "refused writes": _refuse,
    "silent venue": _silence,
    "broken venue": _break,
    "old quotes": _go_back,
    "newer release": _upgrade,
    "refused rows": _refuse_rows,
    "lost answers": _lose_answers,
    "refusing receiver": _answer_otherwise,
    "full disk": _fill_disk,
    "broken disk": _break_disk,
}
