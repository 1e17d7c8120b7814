"""What can go wrong with the whole service: each fault begins inside its `with` and is over at its end."""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Literal

import redis
from msgspec import Struct

from faults.split_drawn import stocks_split
from quotecast.bus.base import REPORT_SECONDS
from support.figures import SLACK
from support.whole_service import Whole

#: Longest that a fault lasts; a read waits five seconds, so whoever serves it freezes for less.
OUTAGE_SECONDS: Final = 8.0
FROZEN_WORKER_SECONDS: Final = 3.0
PATIENCE_SECONDS: Final = 45.0
#: Within which a poisoned feed has a new epoch; its ingest makes one for a report at most every ten seconds.
POISONED_SECONDS: Final = 3.0 + REPORT_SECONDS


class Fault(Struct, frozen=True):
    """What can go wrong, and within how many seconds after its end all clients are right again."""

    name: str
    inflict: Callable[[Whole], AbstractContextManager[object]]
    healed_within: float = 2.0
    at_most_seconds: float = OUTAGE_SECONDS
    #: What may become of reads: a worker that leaves closes idle connections, on which a request may be
    #: on its way; one that dies takes those under way with it.
    reads: Literal["answered", "repeated", "lost"] = "answered"


def _killed(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()


@contextmanager
def redis_dies(whole: Whole) -> Iterator[None]:
    """And comes back empty."""
    whole.redis.kill()
    (whole.redis.socket.parent / "dump.rdb").unlink(missing_ok=True)
    yield
    whole.redis.start()


@contextmanager
def redis_freezes(whole: Whole) -> Iterator[None]:
    whole.redis.freeze()
    yield
    whole.redis.thaw()


def redis_is_told(command: str) -> Callable[[Whole], AbstractContextManager[None]]:
    """A command that makes it forget something."""

    @contextmanager
    def inflict(whole: Whole) -> Iterator[None]:
        with redis.Redis.from_url(whole.redis.url) as client:
            client.execute_command(*command.split())
        yield

    return inflict


@contextmanager
def master_dies(whole: Whole) -> Iterator[None]:
    """Its replica is promoted; it comes back as a replica."""
    whole.redis.kill_master()
    yield
    whole.redis.restart()


@contextmanager
def master_freezes(whole: Whole) -> Iterator[None]:
    """Its replica is promoted; it thaws and becomes one."""
    frozen = whole.redis.master
    frozen.freeze()
    whole.redis.promoted()
    yield
    frozen.thaw()
    whole.redis.until_whole()


def master_is_demoted(how: str) -> Callable[[Whole], AbstractContextManager[None]]:
    """By a Sentinel; every server lives on."""

    @contextmanager
    def inflict(whole: Whole) -> Iterator[None]:
        whole.redis.failover(how)
        yield
        whole.redis.until_whole()

    return inflict


@contextmanager
def value_is_poisoned(whole: Whole) -> Iterator[None]:
    """A quote that nobody can read, which the workers meet when they load the feed again."""
    with redis.Redis.from_url(whole.redis.url) as client:
        before = _epoch(client)
        (key,) = client.scan_iter("*:{crypto}:quotes")
        # Ingest writes the quotes that there are again, before a worker reads them.
        client.hset(key, "POISON/USDT", b"\xc1 no MessagePack")
        client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        yield
        deadline = time.monotonic() + POISONED_SECONDS * SLACK
        while _epoch(client) in {before, None}:
            assert time.monotonic() < deadline, "a feed that nobody can read has no new epoch"
            time.sleep(0.02)


def _epoch(client: redis.Redis) -> bytes | str | None:
    """The epoch of crypto, where there is one."""
    return next((client.hget(key, "epoch") for key in client.scan_iter("*:{crypto}:state")), None)


@contextmanager
def ingest_dies(whole: Whole) -> Iterator[None]:
    """And is started again."""
    _killed(whole.ingests.pop())
    yield
    whole.start_ingest()


@contextmanager
def ingest_freezes(whole: Whole) -> Iterator[None]:
    """Another takes over; the first thaws, and is no longer needed."""
    frozen = whole.ingests.pop()
    frozen.send_signal(signal.SIGSTOP)
    whole.start_ingest()
    yield
    frozen.send_signal(signal.SIGCONT)
    time.sleep(1)
    _killed(frozen)


@contextmanager
def worker_dies(whole: Whole) -> Iterator[None]:
    """And is started again."""
    _killed(whole.workers.pop(0))
    yield
    whole.workers.append(whole.service.start("api"))


@contextmanager
def worker_is_replaced(whole: Whole) -> Iterator[None]:
    """As a rolling restart does it: the old one leaves when the new one is ready."""
    whole.workers.append(whole.service.launch("api"))
    yield
    whole.service.until_ready()
    leaving = whole.workers.pop(0)
    leaving.terminate()
    assert leaving.wait(PATIENCE_SECONDS) == 0, "a worker that was told to stop failed"


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
_POISONED: Final = (Fault("a value is poisoned", value_is_poisoned, healed_within=5.0),)
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
    Fault("subscriptions are killed", redis_is_told("CLIENT KILL TYPE pubsub")),
    Fault("scripts are flushed", redis_is_told("SCRIPT FLUSH")),
    Fault("everything is flushed", redis_is_told("FLUSHALL")),
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


def groups(*, sentinels: bool) -> tuple[Group, ...]:
    """One fault of each at a time. What others need in order to end comes last, and so ends first.

    Those that judge what is told come first: at their end all others are over. So do failovers: they begin
    with a master that works, and the old one takes long to come back.
    """
    if sentinels:
        return (_SPLITS, _SENTINELS, _WORKERS, _INGESTS, _POSTGRES)
    return ((*_SPLITS, *_POISONED), _WORKERS, _INGESTS, _REDIS, _POSTGRES)


def names(*, sentinels: bool) -> set[str]:
    """What may be drawn."""
    return {fault.name for group in groups(sentinels=sentinels) for fault in group}
