"""Corporate actions as they were known: a correction ends a row in PostgreSQL and adds another one."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from quotecast.market.actions import CorporateAction
from quotecast.market.codec import encode_json, iso_utc

#: The id of the row that says since when the actions of a symbol are known. Its content is empty.
_BEGINNING: Final = ""

_PRESENT: Final = (
    "SELECT id, content FROM corporate_actions"
    " WHERE provider = $1 AND symbol = $2 AND known_until IS NULL FOR UPDATE"
)
#: A clock that was set back must not end a row before it began.
_END: Final = (
    "UPDATE corporate_actions SET known_until = greatest($4, known_at + interval '1 microsecond')"
    " WHERE provider = $1 AND symbol = $2 AND known_until IS NULL AND id = ANY($3::text[])"
)
_BEGIN: Final = (
    "INSERT INTO corporate_actions (provider, symbol, id, content, known_at) VALUES ($1, $2, $3, $4, $5)"
    " ON CONFLICT DO NOTHING"
)
_KNOWN: Final = (
    "SELECT symbol, id, content, known_at FROM corporate_actions"
    " WHERE provider = $1 AND symbol = ANY($2::text[]) AND known_at <= $3"
    " AND (known_until IS NULL OR known_until > $3) ORDER BY known_at"
)

_decode: Final = msgspec.json.Decoder(CorporateAction).decode


def _action_of(content: str) -> CorporateAction | None:
    return _decode(content) if content else None


def _content_of(action: CorporateAction | None) -> str:
    return encode_json(action).decode() if action else ""


class Known(NamedTuple):
    """The actions of some stocks at a moment, and the stocks of which none were known yet."""

    actions: Sequence[CorporateAction]
    unknown: Sequence[str]


class KnownActions:
    """What each provider said about the actions of each stock, and when."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writes: set[asyncio.Task[None]] = set()

    def note(
        self, provider: str, symbol: str, actions: Sequence[CorporateAction], now: datetime
    ) -> asyncio.Task[None]:
        """Writes what a provider says now, in a task: no request waits, and the next reading comes soon."""
        task = asyncio.create_task(self._note(provider, symbol, actions, now))
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        return task

    async def _note(
        self, provider: str, symbol: str, actions: Sequence[CorporateAction], now: datetime
    ) -> None:
        said = {_BEGINNING: None, **{each.id: each for each in actions}}

        async def write(connection: Any) -> None:
            rows = await connection.fetch(_PRESENT, provider, symbol)
            # Decoded: a later release may encode the same action with more fields.
            present = {row["id"]: _action_of(row["content"]) for row in rows}
            ended = [each for each, action in present.items() if each not in said or said[each] != action]
            if ended:
                await connection.execute(_END, provider, symbol, ended, now)
            added = [each for each, action in said.items() if each not in present or present[each] != action]
            rows = [(provider, symbol, each, _content_of(said[each]), now) for each in added]
            await connection.executemany(_BEGIN, rows)

        with suppress(DatabaseAway):
            await self._database.session(write)

    async def known(self, provider: str, symbols: Sequence[str], at: datetime) -> Known:
        """Returns the actions of some stocks as they were known at a moment. Raises DatabaseAway."""

        async def read(connection: Any) -> list[Any]:
            rows: list[Any] = await connection.fetch(_KNOWN, provider, [*symbols], at)
            return rows

        rows = await self._database.session(read)
        begun = {row["symbol"] for row in rows if row["id"] == _BEGINNING}
        found = [
            replace(action, known_at=iso_utc(row["known_at"].timestamp()))
            for row in rows
            if (action := _action_of(row["content"]))
        ]
        return Known(found, [symbol for symbol in symbols if symbol not in begun])
