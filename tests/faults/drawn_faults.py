"""Faults of the whole service: each begins inside its `with` and is over at its end."""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import resources
from typing import Any, Final, Literal

import redis
from msgspec import Struct

from faults import tier_faults
from faults.split_drawn import stocks_split
from quotecast.bus import wire
from quotecast.bus.base import MAX_CLOSINGS, MAX_CROSSINGS, REPORT_SECONDS
from support.runs.deadlines import scaled
from support.runs.waits import wait_until
from support.servers.whole_service import Whole

#: Longest fault in seconds; a read waits five seconds, so a frozen worker or Redis thaws before.
OUTAGE_SECONDS: Final = 8.0
FROZEN_WORKER_SECONDS: Final = 3.0
PATIENCE_SECONDS: Final = 45.0
PUBLISH: Final = resources.files("quotecast.bus").joinpath("publish.lua").read_text("utf-8")
#: Within which a poisoned feed has a new epoch; its ingest makes one for a report at most every ten seconds.
POISONED_SECONDS: Final = 3.0 + REPORT_SECONDS


class Fault(Struct, frozen=True):
    """A fault, and the seconds after its end within which all clients are up to date."""

    name: str
    inflict: Callable[[Whole], AbstractContextManager[object]]
    healed_within: float = 2.0
    at_most_seconds: float = OUTAGE_SECONDS
    #: Effect on reads: a worker that stops closes idle connections, on which a request may be in flight;
    #: one that dies loses those in progress.
    reads: Literal["answered", "repeated", "lost"] = "answered"


def _kill(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()


@contextmanager
def redis_dies(whole: Whole) -> Iterator[None]:
    """Kills Redis, which restarts empty."""
    whole.redis.kill()
    (whole.redis.socket.parent / "dump.rdb").unlink(missing_ok=True)
    yield
    whole.redis.start()


@contextmanager
def redis_freezes(whole: Whole) -> Iterator[None]:
    whole.redis.freeze()
    yield
    whole.redis.thaw()


def redis_forgets(command: str) -> Callable[[Whole], AbstractContextManager[None]]:
    """Sends Redis a command that makes it forget data."""

    @contextmanager
    def inflict(whole: Whole) -> Iterator[None]:
        with redis.Redis.from_url(whole.redis.url) as client:
            client.execute_command(*command.split())
        yield

    return inflict


@contextmanager
def master_dies(whole: Whole) -> Iterator[None]:
    """Kills the master; its replica is promoted, and it restarts as a replica."""
    whole.redis.kill_master()
    yield
    whole.redis.restart()


@contextmanager
def master_freezes(whole: Whole) -> Iterator[None]:
    """Freezes the master; its replica is promoted, and it thaws as a replica."""
    whole.redis.freeze_master()
    yield
    whole.redis.thaw()


def master_is_demoted(how: str) -> Callable[[Whole], AbstractContextManager[None]]:
    """Makes a Sentinel demote the master; every server lives on."""

    @contextmanager
    def inflict(whole: Whole) -> Iterator[None]:
        whole.redis.failover(how)
        yield
        whole.redis.until_whole()

    return inflict


@contextmanager
def value_is_poisoned(whole: Whole) -> Iterator[None]:
    """Writes a malformed quote, which workers read when they reload the feed."""
    with redis.Redis.from_url(whole.redis.url) as client:
        before = _epoch(client)
        (key,) = _live_keys(client, "quotes")
        # Ingest writes the quotes that there are again, before a worker reads them.
        client.hset(key, "POISON/USDT", b"\xc1 no MessagePack")
        client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        yield
        wait_until(
            lambda: _epoch(client) not in {before, None},
            "a feed that nobody can read has no new epoch",
            seconds=POISONED_SECONDS,
        )


@contextmanager
def batch_is_poisoned(whole: Whole) -> Iterator[None]:
    """Publishes a well-formed batch with a quote of wrong types, by the script that ingest calls."""
    with redis.Redis.from_url(whole.redis.url) as client:
        before = _epoch(client)
        publish = client.register_script(PUBLISH)
        # Ingest may publish between the two steps.
        wait_until(lambda: publish(*_poisoned_batch(client)), "ingest leaves no time between two batches")
        yield
        wait_until(
            lambda: _epoch(client) not in {before, None},
            "the batch of another ingest starts no new epoch",
            seconds=POISONED_SECONDS,
        )


def _poisoned_batch(client: Any) -> tuple[list[Any], list[Any]]:
    """Returns keys and arguments of the script that publishes a batch."""
    (state,) = _live_keys(client, "state")
    epoch, seq = client.hmget(state, ["epoch", "seq"])
    quote = {"type": "crypto_quote", "ticker": "BTC/USDT", "price": "a lot"}
    batch = {"type": "batch", "feed": "crypto", "epoch": epoch.decode(), "seq": int(seq) + 1}
    message = wire.encode({**batch, "changes": [{"key": "BTC/USDT", "quote": quote}]})
    stored = wire.encode({"seq": int(seq) + 1, "full_seq": 1, "quote": quote})
    names = (b"lease", b"state", b"quotes", b"bars", b"closings", b"crossings")
    keys = [state.replace(b"state", name) for name in names]
    channel = state.replace(b"state", b"batches")
    return keys, [
        client.get(keys[0]) or "nobody",
        epoch,
        seq,
        int(seq) + 1,
        "PUBLISH",
        channel,
        message,
        MAX_CLOSINGS,
        MAX_CROSSINGS,
        1,
        0,
        0,
        "BTC/USDT",
        stored,
    ]


def _epoch(client: redis.Redis) -> bytes | str | None:
    """The epoch of crypto, where there is one."""
    return next((client.hget(key, "epoch") for key in _live_keys(client, "state")), None)


def _live_keys(client: Any, name: str) -> list[bytes]:
    """Returns the keys of crypto with a name, but for those of its delayed feed."""
    return [key for key in client.scan_iter(f"*:{{crypto}}:{name}") if b":delayed:" not in key]


@contextmanager
def ingest_dies(whole: Whole) -> Iterator[None]:
    """Kills the ingest, which restarts."""
    _kill(whole.ingests.pop())
    yield
    whole.start_ingest()


@contextmanager
def ingest_freezes(whole: Whole) -> Iterator[None]:
    """Freezes the ingest; another takes over, and the first one leaves after its thaw."""
    frozen = whole.ingests.pop()
    frozen.send_signal(signal.SIGSTOP)
    whole.start_ingest()
    yield
    frozen.send_signal(signal.SIGCONT)
    time.sleep(1)
    _kill(frozen)


@contextmanager
def worker_dies(whole: Whole) -> Iterator[None]:
    """Kills a worker, which restarts."""
    _kill(whole.workers.pop(0))
    yield
    whole.workers.append(whole.service.start("api"))


@contextmanager
def worker_is_replaced(whole: Whole) -> Iterator[None]:
    """Replaces a worker as a rolling restart does: the old one stops when the new one is ready."""
    whole.workers.append(whole.service.launch("api"))
    yield
    whole.service.until_ready()
    leaving = whole.workers.pop(0)
    leaving.terminate()
    assert leaving.wait(scaled(PATIENCE_SECONDS)) == 0, "a worker failed after SIGTERM"


@contextmanager
def worker_freezes(whole: Whole) -> Iterator[None]:
    whole.workers[0].send_signal(signal.SIGSTOP)
    yield
    whole.workers[0].send_signal(signal.SIGCONT)


@contextmanager
def postgres_dies(whole: Whole) -> Iterator[None]:
    whole.postgres.kill()
    yield
    whole.postgres.start()


@contextmanager
def postgres_freezes(whole: Whole) -> Iterator[None]:
    whole.postgres.freeze()
    yield
    whole.postgres.thaw()


@contextmanager
def pgbouncer_restarts(whole: Whole) -> Iterator[None]:
    assert whole.pgbouncer
    whole.pgbouncer.kill()
    yield
    whole.pgbouncer.start()


Group = tuple[Fault, ...]

_SPLITS: Final = (Fault("stocks split", stocks_split, healed_within=5.0),)
_POISONED: Final = (
    Fault("a value is poisoned", value_is_poisoned, healed_within=5.0),
    Fault("a batch is poisoned", batch_is_poisoned, healed_within=5.0),
)
_WORKERS: Final = (
    Fault("a worker dies", worker_dies, healed_within=5.0, reads="lost"),
    Fault("a worker is replaced", worker_is_replaced, healed_within=10.0, reads="repeated"),
    Fault("a worker freezes", worker_freezes, at_most_seconds=FROZEN_WORKER_SECONDS),
)
_INGESTS: Final = (
    Fault("ingest dies", ingest_dies, healed_within=5.0),
    Fault("ingest freezes", ingest_freezes, healed_within=5.0),
)
_REDIS: Final = (
    Fault("Redis dies", redis_dies),
    Fault("Redis freezes", redis_freezes),
    Fault("subscriptions are killed", redis_forgets("CLIENT KILL TYPE pubsub")),
    Fault("scripts are flushed", redis_forgets("SCRIPT FLUSH")),
    Fault("everything is flushed", redis_forgets("FLUSHALL")),
)
_SENTINELS: Final = (
    Fault("the master of Redis dies", master_dies, healed_within=5.0),
    Fault("the master of Redis freezes", master_freezes, healed_within=5.0),
    Fault("Redis fails over", master_is_demoted("COORDINATED"), healed_within=5.0),
    Fault("Redis has two masters", master_is_demoted(""), healed_within=5.0),
)
_POSTGRES: Final = (
    Fault("PostgreSQL dies", postgres_dies),
    Fault("PostgreSQL freezes", postgres_freezes),
    Fault("PgBouncer restarts", pgbouncer_restarts),
)


_TIERS: Final = (2, 3)
_EDGES: Final = tuple(
    fault
    for tier in _TIERS
    for fault in (
        Fault(f"edge {tier} dies", tier_faults.edge_dies(tier), healed_within=5.0, reads="lost"),
        Fault(f"edge {tier} freezes", tier_faults.edge_freezes(tier), at_most_seconds=FROZEN_WORKER_SECONDS),
    )
)
_LINES: Final = tuple(
    Fault(f"line {tier} {name}", inflict(tier), healed_within=5.0)
    for tier in _TIERS
    for name, inflict in (
        ("is cut", tier_faults.line_is_cut),
        ("is silent", tier_faults.line_is_silent),
        ("is slow", tier_faults.line_is_slow),
        ("breaks off", tier_faults.line_breaks_off),
    )
)
#: Faults between tiers.
TIERED: Final[tuple[Group, ...]] = (_EDGES, _LINES)


def groups(*, sentinels: bool, tiered: bool = False) -> tuple[Group, ...]:
    """Returns one fault of each kind at a time; a fault that others need to end comes last and ends first.

    Faults that judge the clients' values come first: at their end all others are over. So do failovers: they
    begin with a working master, and the old one takes long to come back.
    """
    more = TIERED if tiered else ()
    if sentinels:
        return (_SPLITS, _SENTINELS, _WORKERS, _INGESTS, _POSTGRES, *more)
    return ((*_SPLITS, *_POISONED), _WORKERS, _INGESTS, _REDIS, _POSTGRES, *more)


def names(*, sentinels: bool, tiered: bool = False) -> set[str]:
    """What may be drawn."""
    return {fault.name for group in groups(sentinels=sentinels, tiered=tiered) for fault in group}
