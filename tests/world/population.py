"""The pages and readers of a world: what a seed draws for each."""

import random
from typing import TYPE_CHECKING, Final

from quotecast.market.feeds import Feed
from quotecast.settings.plans import delayed_prefix
from world.bar_questions import Bars
from world.client import ALL_FEEDS, EVENTS, FIELDS, FeedCopy, Frontend
from world.keys import SMALL_LIMIT
from world.questions import Quotes
from world.reader import LIMIT, Reader
from world.replayer import Replayer

if TYPE_CHECKING:
    from world.world import World

_NOTATIONS: Final = (
    "quotecast.v1.json",
    "quotecast.v1.msgpack",
    "quotecast.v1.rows",
    "quotecast.v1.json.deflate",
)
#: How many readers have an API key.
_WITH_KEY: Final = 0.6
#: How many pages and readers see delayed quotes, where there are any.
_LATE: Final = 0.25
#: How many pages have one socket for all feeds.
_OF_ALL: Final = 0.25
#: How many pages ask for some fields.
_OF_FIELDS: Final = 0.3
#: How many readers ask for bars.
_OF_BARS: Final = 0.5
_INTERVALS: Final = (100, 250, 500, 1000, 5000)


def add(world: "World", workers: list[str], edges: list[str]) -> None:
    """Adds the pages, then the readers."""
    for number in range(world.size.frontends):
        if world.is_recorded and number == world.size.frontends - 1:
            _add_replayer(world, number, workers)
        else:
            _add_frontend(world, number, workers, edges)
    for number in range(world.size.readers):
        _add_reader(world, number, workers)


def _add_frontend(world: "World", number: int, workers: list[str], edges: list[str]) -> None:
    chance = random.Random(world.chance.random())
    late = world.size.delay_seconds > 0 and chance.random() < _LATE
    notation = chance.choice(_NOTATIONS if late else (*_NOTATIONS, EVENTS))
    of_all = notation != EVENTS and chance.random() < _OF_ALL
    feeds = [*world.venues] if of_all else [chance.choice([*world.venues])]
    name = f"page-{number + 1}"
    bars = {"bars": "1m"} if chance.random() < 0.5 else {}
    fields = {} if of_all or chance.random() > _OF_FIELDS else {"fields": FIELDS[feeds[0]]}
    prefix = delayed_prefix(world.settings) if late else world.settings.redis_prefix
    path = f"/api/{'sse' if notation == EVENTS else 'ws'}/{feeds[0].spec.name}"
    key = world.keys.make("late") if late else None
    frontend = Frontend(
        [
            FeedCopy(
                world.truths[prefix, feed],
                {"symbols": _symbols(world, feed, chance), **bars, **fields},
                name,
                world.break_promise,
            )
            for feed in feeds
        ],
        workers if late else chance.choice([workers, workers, edges or workers, workers + edges]),
        ALL_FEEDS if of_all else path,
        interval=chance.choice(_INTERVALS),
        notation=notation,
        chance=chance,
        broken=world.break_promise,
        name=name,
        key=key.text if key else "",
    )
    frontend.is_late = late
    if key:
        world.keys.follow_page(frontend, key)
    world.frontends.append(frontend)
    world.add(name, frontend.run)


def _add_replayer(world: "World", number: int, workers: list[str]) -> None:
    chance = random.Random(world.chance.random())
    late = world.size.delay_seconds > 0 and chance.random() < _LATE
    name = f"page-{number + 1}"
    key = world.keys.make("late") if late else None
    replayer = Replayer(
        world.truths[world.settings.redis_prefix, chance.choice([*world.venues])],
        workers,
        notation=chance.choice(_NOTATIONS),
        chance=chance,
        broken=world.break_promise,
        name=name,
        key=key.text if key else "",
        delay_seconds=world.size.delay_seconds if late else 0,
    )
    if key:
        world.keys.follow_page(replayer, key)
    world.replayers.append(replayer)
    world.add(name, replayer.run)


def _symbols(world: "World", feed: Feed, chance: random.Random) -> str:
    names = world.venues[feed].names
    few, one = chance.sample(names, min(len(names), 5)), chance.choice(names)
    return chance.choice(["all", ",".join(few), one])


def _add_reader(world: "World", number: int, workers: list[str]) -> None:
    chance = random.Random(world.chance.random())
    feed = chance.choice([*world.venues])
    name = f"reader-{number + 1}"
    late = world.size.delay_seconds > 0 and chance.random() < _LATE
    plan = "late" if late else "small" if chance.random() < _WITH_KEY else ""
    key = world.keys.make(plan) if plan else None
    prefix = delayed_prefix(world.settings) if late else world.settings.redis_prefix
    world.hosts[name] = world.new_host(name)
    truth = world.truths[prefix, feed]
    pause = chance.choice((0.4, 2.0))
    own = random.Random(f"questions of {name} of {world.seed}")
    if reads_bars := own.random() < _OF_BARS:
        # A minute ends in the middle of a world: its limit must not be used up by then.
        pause = own.choice((1.0, 2.0))
    reader = Reader(
        Bars(truth, own) if reads_bars else Quotes(truth, chance),
        workers,
        world.network,
        world.running,
        pause=pause,
        chance=chance,
        broken=world.break_promise,
        host=world.hosts[name],
        key=key.text if key else "",
        limit=SMALL_LIMIT if plan == "small" else LIMIT,
        hub=f"{feed}{'-delayed' if late else ''}",
    )
    if key:
        world.keys.follow(reader, key)
    world.readers.append(reader)
    world.add(name, reader.run)
