"""API keys of a world: their plans, a revocation, and the check of what they used."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from quotecast.access.key_text import digest, key_text
from quotecast.access.plans import Plan
from world.bar_truth import Break
from world.clock import wall_time
from world.postgres_data import KeyRow, Tables
from world.reader import Reader

#: Requests of a small plan in a minute.
SMALL_LIMIT: Final = 20
PLANS: Final = {
    "late": Plan(freshness="delayed"),
    "small": Plan(requests={"market": SMALL_LIMIT, "crypto": SMALL_LIMIT, "doviz": SMALL_LIMIT}),
}
#: In how many worlds the key of a page is revoked.
_OF_PAGES: Final = 0.5
_SECRET_BYTES: Final = 21
#: Seconds of answers that a worker may lose from its counts when it dies: a roll-up and two attempts.
_LOST_SECONDS: Final = 8.0
#: Seconds from a revocation until the last socket of the key ends, and the way of its last frame.
_ENDS_SECONDS: Final = 1.0 + 0.3


class Page(Protocol):
    """A page with a key of its own; `heard_at` is the Unix time of its last frame."""

    name: str
    heard_at: float


class Revocation(NamedTuple):
    """A key that was revoked while the service had no faults, and the Unix time of it."""

    key_id: str
    at: float


class WorldKey(NamedTuple):
    """A key as its holder has it."""

    id: str
    text: str


class Death(NamedTuple):
    """The second of the world in which a worker was killed."""

    worker: str
    at: float


class Keys:
    """The keys of a world, and those who use them."""

    def __init__(self, tables: Tables, chance: random.Random, broken: Break) -> None:
        self._chance = chance
        self._broken = broken
        self._tables = tables
        self._users: dict[str, Reader] = {}
        self._revoked = ""
        self._pages: dict[str, Page] = {}
        self._revocation: Revocation | None = None
        for name, plan in PLANS.items():
            tables.plans[name] = msgspec.json.encode(plan).decode()

    def make(self, plan: str) -> WorldKey:
        """Stores a key with a plan before the world begins."""
        key_id, secret = self._chance.randbytes(12).hex(), "x" + self._chance.randbytes(_SECRET_BYTES).hex()
        now = datetime.fromtimestamp(wall_time(), UTC)
        self._tables.api_keys[key_id] = KeyRow(
            id=key_id, secret_hash=digest(secret), created_at=now, plan=plan
        )
        return WorldKey(key_id, key_text(key_id, secret))

    def follow(self, reader: Reader, key: WorldKey) -> None:
        """Remembers who polls with a key."""
        self._users[key.id] = reader

    def follow_page(self, page: Page, key: WorldKey) -> None:
        """Remembers the page of a key."""
        self._pages[key.id] = page

    def revoke(self, tables: Tables) -> None:
        """Revokes the key of one reader, as its owner does; nobody writes meanwhile."""
        if not self._users:
            return
        self._revoked = self._chance.choice([*self._users])
        self._store_revocation(tables, self._revoked)

    def revoke_page(self, tables: Tables, chance: random.Random) -> None:
        """Revokes the key of a page, in some worlds; nobody writes meanwhile."""
        if not self._pages or chance.random() > _OF_PAGES:
            return
        self._revocation = Revocation(chance.choice([*self._pages]), wall_time())
        self._store_revocation(tables, self._revocation.key_id)

    def is_refused(self, page: Page) -> bool:
        """Returns whether the key of a page was revoked."""
        return self._revocation is not None and page is self._pages[self._revocation.key_id]

    def _store_revocation(self, tables: Tables, key_id: str) -> None:
        now = datetime.fromtimestamp(wall_time(), UTC)
        tables.api_keys[key_id] = replace(tables.api_keys[key_id], revoked_at=now)
        tables.key_changes[True] += 1

    def check(self, tables: Tables, deaths: Sequence[Death], *, healed: float, are_counts_kept: bool) -> None:
        """Checks the revocations, and the usage of each key; `healed` is when the last fault was over."""
        self._check_page()
        for key_id, reader in self._users.items():
            used = sum(row[0] for (owner, _), row in tables.api_key_usage.items() if owner == key_id)
            what = f"{reader.host.name} asked {reader.asked} times, {used} are counted"
            if used > reader.asked:
                self._broken("a request counts once", what)
            # Wrong keys are counted for no key, and many of them are refused with 429.
            uncounted = {401, 429, 503} if key_id == self._revoked else {503}
            counted = [each for each in reader.answers if each.status not in uncounted]
            lost = [
                each
                for each in counted
                if any(
                    death.worker == each.server and death.at - _LOST_SECONDS < each.at <= death.at
                    for death in deaths
                )
            ]
            if are_counts_kept and used < len(counted) - len(lost):
                self._broken(
                    "requests are counted", f"{what}, {len(counted)} answered, {len(lost)} may be lost"
                )
            if key_id == self._revoked:
                late = [each for each in reader.answers if each.at > healed and each.status in {200, 304}]
                if late:
                    self._broken("a revoked key ends", f"{reader.host.name} got {late}")

    def _check_page(self) -> None:
        if self._revocation is None:
            return
        page = self._pages[self._revocation.key_id]
        seconds = page.heard_at - self._revocation.at
        if seconds > _ENDS_SECONDS:
            self._broken(
                "a revoked key ends", f"{page.name} got a frame {seconds:.3f} s after the revocation"
            )
