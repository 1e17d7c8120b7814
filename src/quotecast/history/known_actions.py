"""Corporate actions as they were known: a correction ends a row in PostgreSQL and adds another one."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from quotecast.market.actions import CorporateAction
from quotecast.market.codec import encode_json, iso_utc

#: The id of the row that says when the actions of a symbol were first read. Its content is empty.
_FIRST_READING: Final = ""

_CURRENT: Final = (
    "SELECT id, content, known_at FROM corporate_actions"
    " WHERE provider = $1 AND symbol = $2 AND known_until IS NULL FOR UPDATE"
)
_END: Final = (
    "UPDATE corporate_actions SET known_until = $4"
    " WHERE provider = $1 AND symbol = $2 AND known_until IS NULL AND id = ANY($3::text[])"
)
_INSERT: Final = (
    "INSERT INTO corporate_actions (provider, symbol, id, content, known_at) VALUES ($1, $2, $3, $4, $5)"
    " ON CONFLICT DO NOTHING"
)
_AT: Final = (
    "SELECT symbol, id, content, known_at FROM corporate_actions"
    " WHERE provider = $1 AND symbol = ANY($2::text[]) AND known_at <= $3"
    " AND (known_until IS NULL OR known_until > $3) ORDER BY known_at"
)

_decode: Final = msgspec.json.Decoder(CorporateAction).decode


def _action_of(content: str) -> CorporateAction | None:
    return _decode(content) if content else None


def _actions_in(rows: Iterable[Any]) -> Iterator[CorporateAction]:
    for row in rows:
        if action := _action_of(row["content"]):
            yield replace(action, known_at=iso_utc(row["known_at"].timestamp()))


class ActionsAt(NamedTuple):
    """The actions of some stocks as they were known at a moment, and the stocks not read by then."""

    actions: Sequence[CorporateAction]
    unread: Sequence[str]


class KnownActions:
    """The actions of each stock as each provider gave them at each reading."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(
        self, provider: str, symbol: str, actions: Sequence[CorporateAction], now: datetime
    ) -> None:
        """Stores what a provider said at a moment, unless a later reading is stored.

        While PostgreSQL is away that is left to the next reading.
        """
        # Whole milliseconds, as answers show them: a client may ask for this very moment.
        at = now.replace(microsecond=now.microsecond // 1000 * 1000)
        current = {_FIRST_READING: None, **{each.id: each for each in actions}}

        async def write(connection: Any) -> None:
            rows = await connection.fetch(_CURRENT, provider, symbol)
            if any(row["known_at"] >= at for row in rows):
                return
            # Decoded: a later release may encode the same action with more fields.
            stored = {row["id"]: _action_of(row["content"]) for row in rows}
            ended = [each for each, _ in stored.items() - current.items()]
            await connection.execute(_END, provider, symbol, ended, at)
            added = current.items() - stored.items()
            values = [
                (provider, symbol, each, encode_json(action).decode() if action else "", at)
                for each, action in added
            ]
            await connection.executemany(_INSERT, values)

        with suppress(DatabaseAway):
            await self._database.session(write)

    async def read(self, provider: str, symbols: Sequence[str], at: datetime) -> ActionsAt:
        """Returns the actions of some stocks as they were known at a moment. Raises DatabaseAway."""
        rows = await self._database.session(lambda link: link.fetch(_AT, provider, [*symbols], at))
        known = {row["symbol"] for row in rows if row["id"] == _FIRST_READING}
        # In a thread: 50 stocks with a dividend a month for decades have 20,000 rows.
        found = await asyncio.to_thread(lambda: [*_actions_in(rows)])
        return ActionsAt(found, [symbol for symbol in symbols if symbol not in known])
