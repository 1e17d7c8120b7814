"""Faults that somebody could write into the service: each world's checks must find them."""

import importlib
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any, Final, NamedTuple


class Planted(NamedTuple):
    """A fault: the text of a module, or of a script, that becomes another."""

    #: A module of quotecast, or a folder and a script such as `bus/publish.lua`.
    place: str
    right: str
    wrong: str


PLANTED: Final[dict[str, Planted]] = {
    "a batch of another epoch is applied": Planted(
        "quotecast.feed.mirror",
        "batch.epoch != self.epoch or batch.seq > self._arrivals.seq + 1",
        "batch.seq > self._arrivals.seq + 1",
    ),
    "a lease has two holders": Planted("bus/hold.lua", "holder and holder ~= ARGV[1]", "false"),
    "an epoch begins without the changes that wait": Planted(
        "quotecast.ingest.ledger",
        "for key, quote in self._newest.items()\n        }\n        self._waiting = {}",
        "for key, quote in self._newest.items() if key not in self._waiting"
        "\n        }\n        self._waiting = {}",
    ),
    "a gap in the numbers goes unnoticed": Planted(
        "quotecast.feed.mirror",
        "batch.epoch != self.epoch or batch.seq > self._arrivals.seq + 1",
        "batch.epoch != self.epoch",
    ),
    "a position ahead of the mirror goes unnoticed": Planted(
        "quotecast.feed.bus_listener",
        "message.epoch != mirror.epoch or message.seq > mirror.mark.seq",
        "message.epoch != mirror.epoch",
    ),
    "a worker trusts a silent subscription": Planted(
        "quotecast.feed.bus_listener", "if self._clock() >= self._check_at:", "if False:"
    ),
    "a mirror takes a state that is older": Planted(
        "quotecast.feed.mirror",
        "known = mark.seq if same_epoch else",
        "known = -1 if same_epoch else",
    ),
    "a cursor advances before the write": Planted(
        "quotecast.feed.hub",
        "for connection in [*self._connections]:",
        "for connection in [*self._connections]:\n"
        "            connection.session.subscription.mark = self.mirror.mark",
    ),
    "a straggler joins without what it missed": Planted(
        "quotecast.feed.hub", "self._send(connections, frames, metered)", "pass"
    ),
    "a cursor of another epoch resumes": Planted(
        "quotecast.feed.session", "if known and present else None", "if known else None"
    ),
    "a change behind the cursor is missed": Planted(
        "quotecast.feed.mirror", "if entry.seq > seq]", "if entry.seq > seq + 1]"
    ),
    "a resumed copy keeps a removed symbol": Planted(
        "quotecast.feed.subscription", "return changed if whole else None", "return changed"
    ),
    "a page gets the fields that another selected": Planted(
        "quotecast.feed.subscription",
        "[entry.moving.get(projection) or entry.since(before, projection) for entry in changed]",
        "[next(iter(entry.moving.values()), b'') or entry.since(before, projection) for entry in changed]",
    ),
    "the rest of a frame is lost": Planted(
        "quotecast.stream.outlet", 'return memoryview(data)[sent:] if sent < len(data) else b""', 'return b""'
    ),
    "an ETag outlives its epoch": Planted(
        "quotecast.api.answers.answers", "_feed_tag(mirror, entry.seq)", "b'W/\"%d\"' % entry.seq"
    ),
    "a repeated read gets an old answer": Planted(
        "quotecast.api.limits.repeats", "last is None or last.is_current()", "True"
    ),
    "delayed quotes are early": Planted(
        "bus/released.lua", "'%d', now - ARGV[1])", "'%d', now - ARGV[1] + 1500)"
    ),
    "a minute is final before its end": Planted(
        "quotecast.market.bar_making", "through = now - GRACE_SECONDS", "through = now + 30"
    ),
    "bars are read without those that wait for PostgreSQL": Planted(
        "quotecast.api.bars.own_bars",
        "yield from book.final(symbol, interval, max(book.known_from, after))",
        "yield from ()",
    ),
    "a reloaded quote has the bar of the quote before": Planted(
        "quotecast.feed.mirror",
        "entry.full_seq = stored.full_seq\n        entry.set_bars(stored.bars)",
        "entry.full_seq = stored.full_seq",
    ),
    "each worker counts requests alone": Planted(
        "quotecast.limits.window", "KeyNames(prefix)", "KeyNames(prefix + __import__('os').urandom(4).hex())"
    ),
    "a full window admits more": Planted(
        "limits/window.lua", "elseif free > 0 then", "elseif free > -5 then"
    ),
    "a standby takes a feed whose state is lost": Planted(
        "quotecast.ingest.lease", "bus.take_over if leaders_tries else bus.hold", "bus.hold"
    ),
    "crossings are lost with the answer to their batch": Planted(
        "quotecast.ingest.ledger", "Memory(closings, list(self.crossings.remembered))", "Memory(closings)"
    ),
    "a successor knows no price before its first": Planted(
        "quotecast.ingest.publish", "same = old.info.provider == self._provider.name", "same = False"
    ),
    "a sent event is sent again": Planted(
        "quotecast.alerts.delivery",
        "await self._database.session(partial(storage.note_sent, sent=claim))",
        "pass",
    ),
    "a refused event is forgotten": Planted(
        "quotecast.alerts.delivery", "if result.succeeded:", "if result.status:"
    ),
    "each try is another message": Planted(
        "quotecast.alerts.delivery",
        "message_id=webhooks.event_message_id(claim.event.id)",
        "message_id=webhooks.event_message_id(claim.event.id) + '-again' * (claim.attempts > 1)",
    ),
    "a roll-up without an answer counts twice": Planted(
        "quotecast.access.rollup",
        "await self._database.session(partial(usage_storage.add, batch=batch))",
        "self._number += 1"
        "\n        again = UsageBatch(batch.worker, self._number, batch.rows)"
        "\n        await self._database.session(partial(usage_storage.add, batch=again))",
    ),
    "a stopping worker forgets its counts": Planted(
        "quotecast.api.main", "stack.push_async_callback(roll_up.flush)", "pass"
    ),
    "a revoked key goes on": Planted(
        "quotecast.access.key_book", "changed = number != self._number or everything", "changed = everything"
    ),
    "the sockets of a revoked key go on": Planted(
        "quotecast.access.key_book",
        "if self._rights(key_id) != rights:\n                self.on_end(key_id)",
        "if self._rights(key_id) != rights:\n                pass",
    ),
    "a delayed plan gets live quotes": Planted(
        "quotecast.stream.hubs", "self.delayed if grant.plan.is_delayed else self.live", "self.live"
    ),
    "a delayed plan reads live quotes": Planted(
        "quotecast.api.views.views",
        "self._delayed if key.is_delayed else self._services",
        "self._services",
    ),
    "a replay begins behind its moment": Planted(
        "quotecast.feed.past", "playback.read(at):", "playback.read(at + 1):"
    ),
    "a replay of a delayed plan reaches the present": Planted(
        "quotecast.stream.endpoint", "late_seconds=self._hubs.lateness(grant)", "late_seconds=0"
    ),
    "a recording has symbols that ended": Planted(
        "quotecast.history.recorder",
        "writer.add_batch(at, encode(message), message.seq, count)",
        "writer.add_batch(at, encode(structs.replace(message, removed=[])), message.seq, count)",
    ),
    "Sentinels are asked once": Planted(
        "quotecast.redis.sentinel",
        "answers = await self._answers()",
        "self.known = answers = getattr(self, 'known', ()) or await self._answers()",
    ),
    "the connections to a demoted master stay": Planted(
        "quotecast.redis.commands", "if problem in ELSEWHERE and not", "if False and not"
    ),
    "a script of the delayed feed has keys of two slots": Planted(
        "quotecast.bus.kept",
        'return f"{self._prefix}:{{{feed}}}:{name}"',
        "return f\"{self._prefix}:{{{feed}{'' if name == 'lease' else '-kept'}}}:{name}\"",
    ),
    "a gap in a recording is not marked": Planted(
        "quotecast.history.segments", "Kind.KEYFRAME_AFTER_LOSS if lost else Kind.KEYFRAME", "Kind.KEYFRAME"
    ),
    "half a block stays on a full disk": Planted(
        "quotecast.history.segments", "os.ftruncate(self._file, self.size)", "pass"
    ),
    "a recording ends with the first full disk": Planted(
        "quotecast.history.recorder",
        "self._retry_at = self._now() + RETRY_SECONDS",
        "self._retry_at = self._now() + 3600",
    ),
    "batches that a disk did not take are not counted": Planted(
        "quotecast.history.recorder", "feed.note_unwritten(writer.waiting)", "pass"
    ),
    "an empty segment hides a gap": Planted(
        "quotecast.history.playback",
        "next((blocks[0] for blocks in later if blocks), None)",
        "next((blocks[0] if blocks else None for blocks in later), None)",
    ),
    "a replay hangs when its segment cannot be read": Planted(
        "quotecast.history.playback",
        "raise _unreadable(error) from error\n        return self._next",
        "raise\n        return self._next",
    ),
    "an ingest starts only with its disk": Planted(
        "quotecast.ingest.recording", "except HistoryError as error", "except KeyError as error"
    ),
    "an event comes again": Planted(
        "quotecast.alerts.events", "Table.id > event_id,", "Table.id > event_id - 1,"
    ),
    "an event between two requests is missed": Planted(
        "quotecast.api.routes.alerts.alert_events",
        "found[-1].id if found else before",
        "found[-1].id + 1 if found else before",
    ),
    "nothing wakes a request that waits": Planted(
        "quotecast.api.accounts.alert_waits", "                wait.wake()", "                pass"
    ),
    "a token is taken for another user's": Planted(
        "quotecast.users.tokens",
        "claims = self._claims.get(token)",
        "claims = next(iter(self._claims.values()), None)",
    ),
    "an origin answers relays with an old state": Planted(
        "quotecast.stream.relays",
        "async with self._turn:\n            self._next = None",
        "async with self._turn:\n            pass",
    ),
}


def plant(name: str) -> None:
    """Makes the service wrong; call it before the first import of quotecast."""
    planted = PLANTED[name]
    if planted.place.endswith(".lua"):
        _plant_script(planted)
        return
    assert planted.place not in sys.modules, "planted too late"
    sys.meta_path.insert(0, _Finder(planted))


def _plant_script(planted: Planted) -> None:
    module: Any = importlib.import_module("quotecast.redis.lua")
    read = module.lua

    def lua(folder: str, script: str) -> str:
        source: str = read(folder, script)
        return _replaced(planted, source) if planted.place == f"{folder}/{script}.lua" else source

    module.lua = lua


def _replaced(planted: Planted, source: str) -> str:
    assert source.count(planted.right) == 1, f"{planted.place} has not once: {planted.right}"
    return source.replace(planted.right, planted.wrong)


class _Finder(MetaPathFinder):
    def __init__(self, planted: Planted) -> None:
        self._planted = planted

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """Finds the module of the fault, with another loader."""
        if fullname != self._planted.place:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = _Loader(fullname, spec.origin, self._planted)
        return spec


class _Loader(SourceFileLoader):
    """Loads a module with the fault in it, past the cache of bytecode."""

    def __init__(self, fullname: str, path: str, planted: Planted) -> None:
        super().__init__(fullname, path)
        self._planted = planted

    def get_code(self, fullname: str) -> Any:
        """Returns the code of the changed source."""
        del fullname
        source = self.get_data(self.path).decode()
        return compile(_replaced(self._planted, source), self.path, "exec")
