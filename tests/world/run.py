"""The run of one world: its faults, its recovery, and the checks at its end."""

import asyncio
import random
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, cast

from msgspec import Struct

from quotecast.authorities import trusted_authorities
from support.made.factories import app_of, empty_mirrors, services
from world import faults, recordings, watchers, webhooks
from world.clock import WALL
from world.faults import Fault
from world.world import Broken, Line, Size, World

#: Seconds before the first fault, and for the faults.
START_SECONDS: Final = 2.0
FAULTS_SECONDS: Final = 20.0
#: Seconds from the end of the last fault in which everything is live again.
RECOVERY_SECONDS: Final = 12.0
#: Seconds from the end of the last fault in which workers read PostgreSQL as often as without faults.
CALM_SECONDS: Final = 8.0
#: Seconds without quotes, after which every copy equals the venue.
QUIET_SECONDS: Final = 6.5
#: Seconds in which a delayed quote is sent: a block of them is kept, then released.
LATE_SECONDS: Final = 3.0
#: Seconds after an outage of PostgreSQL in which a worker adds the counts that waited.
_STORED_SECONDS: Final = 8.0
_LAST_SECONDS: Final = 0.5
#: Faults that end a process.
_ENDS: Final = frozenset({"kill", "power loss", "stop"})
#: Seconds that a delivery may wait for the clock of PostgreSQL, and still arrive before a world's end.
_LONGEST_WAIT: Final = 5.0
#: Faults that make a clock wrong.
_WRONG_CLOCKS: Final = frozenset({"clock step", "clock drift"})
#: Faults after which a price may cross a threshold once more.
_MOVES_BACK: Final = frozenset({"old quotes", "empty redis", "failover"})


class Outcome(Struct, frozen=True):
    """What became of one world."""

    seed: int
    faults: Sequence[Fault]
    broken: Sequence[Broken]
    trace: Sequence[Line]
    seconds: float
    frames: int


def play(seed: int, chosen: Sequence[Fault] | None = None, *, count: int, folder: str) -> Outcome:
    """Plays the world of a seed, with its own faults or with some chosen ones; it may record to a folder."""
    world = World(seed, Size.of(random.Random(seed)), folder)
    chance = random.Random(f"faults of {seed}")
    found: list[Fault] = []

    async def main() -> None:
        world.build()
        drawn = faults.draw(world, chance, count, START_SECONDS, START_SECONDS + FAULTS_SECONDS)
        for module in (recordings, watchers):
            drawn += module.draw_faults(
                seed, world.size.workers, START_SECONDS, START_SECONDS + FAULTS_SECONDS
            )
        found.extend(drawn if chosen is None else chosen)
        faults.schedule(world, found)
        if any(each.kind in _WRONG_CLOCKS for each in found):
            world.distrust_clocks()
        at = chance.uniform(START_SECONDS, START_SECONDS + FAULTS_SECONDS)
        world.loop.call_at(at, partial(_revoke, world, of_page=False))
        # With fewer faults the world is as long as with all of them.
        end = max([START_SECONDS, *(each.at + each.seconds for each in drawn)])
        await asyncio.sleep(end + CALM_SECONDS)
        _revoke(world, of_page=True)
        await asyncio.sleep(RECOVERY_SECONDS - CALM_SECONDS)
        # The last batches before the quiet are lost on one worker: no later one shows it a gap.
        faults.schedule(world, [faults.lost_messages(world, chance, world.loop.now, _LAST_SECONDS + 0.1)])
        await asyncio.sleep(_LAST_SECONDS)
        world.rest()
        await asyncio.sleep(QUIET_SECONDS)
        world.check_live()
        if world.settings.delay_seconds:
            await asyncio.sleep(world.settings.delay_seconds + LATE_SECONDS + _seconds_ahead(found))
        world.check_late()
        # No feed, and no event, needs a disk.
        felt = [each for each in found if each.kind not in faults.DISK_KINDS]
        is_state_kept = not _are_states_lost(felt)
        world.check_stored_bars(is_state_kept=is_state_kept)
        tables = world.postgres.tables
        is_calm = not any(each.kind in _MOVES_BACK for each in found)
        world.alerts.check(tables, is_calm=is_calm, is_state_kept=is_state_kept)
        are_all_due = not _may_deliveries_wait(found)
        webhooks.check(world.receivers, tables, world.break_promise, felt, are_all_due=are_all_due)
        clocks_are_right = not any(each.kind in _WRONG_CLOCKS for each in found)
        for watcher in world.watchers:
            watcher.check(felt, clocks_are_right=clocks_are_right)
        counted, healed = not _are_both_gone(found), end + RECOVERY_SECONDS
        world.keys.check(tables, world.deaths, healed=healed, are_counts_kept=counted)
        world.recordings.check(found)
        for each in world.replayers:
            each.check_moments(world.recordings.positions)
            each.check_refusals(WALL + healed, is_revoked=world.keys.is_refused(each))
        world.check_limits(_lone_workers(found, world.size))

    world.loop.run_until_complete(main())
    frames = sum(each.frames for each in world.frontends) + sum(each.frames for each in world.replayers)
    return Outcome(seed, found, world.broken, world.trace, world.loop.now, frames)


def _seconds_ahead(found: Sequence[Fault]) -> float:
    """Returns how far the clock of Redis may be ahead of an ingest's: delayed feeds are as much later.

    A step ends with its fault; what a clock has gained or lost by its drift stays.
    """
    drifts = [each for each in found if each.kind == "clock drift"]
    gained = sum(each.amount * each.seconds for each in drifts if each.target == "redis" and each.amount > 0)
    lost = sum(-each.amount * each.seconds for each in drifts if "ingest" in each.target and each.amount < 0)
    steps = [each.amount for each in found if each.kind == "clock step" and each.target == "redis"]
    return gained + lost + max([0.0, *steps])


def _revoke(world: World, *, of_page: bool) -> None:
    world.loop.nobody.run(world.revoke_key(of_page=of_page))


def _are_states_lost(found: Sequence[Fault]) -> bool:
    """Returns whether nobody may know what crossed: Redis and the leader lost it, or a clock was wrong."""
    hosts = {host for each in found for host in (each.target, each.other)}
    if any(each.kind == "empty redis" for each in found):
        return any("ingest" in host for host in hosts)
    # A crossing has the time of its ingest, and an alert none from before its creation.
    return any(each.kind == "clock step" and "ingest" in each.target for each in found)


def _may_deliveries_wait(found: Sequence[Fault]) -> bool:
    """Returns whether deliveries may wait long: PostgreSQL wrote their times while its clock was ahead."""
    steps = [each.amount for each in found if each.kind == "clock step" and each.target == "postgres"]
    return sum(step for step in steps if step > 0) > _LONGEST_WAIT


def _are_both_gone(found: Sequence[Fault]) -> bool:
    """Returns whether a worker may have ended without PostgreSQL or Redis for its counts."""
    ends = [each for each in found if each.kind in _ENDS and "worker" in each.target]
    away = [each for each in found if "postgres" in {each.target, each.other} or _is_of_redis(each)]
    return any(
        store.at < end.at + end.seconds and end.at < store.at + store.seconds + _STORED_SECONDS
        for end in ends
        for store in away
    )


def _lone_workers(found: Sequence[Fault], size: Size) -> int:
    """Returns how many workers may have admitted a limit of requests each, without knowing of the others."""
    restarts = sum(each.kind in _ENDS and "worker" in each.target for each in found)
    return size.workers + restarts if any(map(_parts_from_redis, found)) else 1


def _parts_from_redis(fault: Fault) -> bool:
    """Returns whether a fault may keep a worker from Redis, or take its counts from either."""
    if _is_of_redis(fault):
        return "ingest" not in fault.target + fault.other
    return "worker" in fault.target and fault.kind in {*_ENDS, "freeze"}


def _is_of_redis(fault: Fault) -> bool:
    """Returns whether a fault is of Redis, of its Sentinels, or of a line to them."""
    return any(host.startswith(("redis", "sentinel")) for host in (fault.target, fault.other))


def prepare() -> None:
    """Makes what all worlds share: the routes take a second, and a TLS context a thirtieth."""
    trusted_authorities()
    app_of(services(empty_mirrors()), throttle=cast("Any", object()))
