"""Storage of a user's layout of the terminal."""

from datetime import datetime

from msgspec import Struct

from quotecast.database.database import row_as
from quotecast.database.tables import Layout as Table
from quotecast.errors import StaleVersion
from quotecast.users.account import Account


class SavedLayout(Struct, frozen=True):
    """A layout: a JSON object as the client sent it; version 0 means that the user never saved one."""

    layout: str
    version: int
    updated_at: datetime | None


async def load_layout(account: Account) -> SavedLayout:
    """Returns the user's layout, or an empty one at version 0."""
    rows = await account.select(Table)
    return row_as(SavedLayout, rows[0]) if rows else SavedLayout("{}", 0, None)


async def save_layout(account: Account, text: str, version: int | None, now: datetime) -> SavedLayout:
    """Replaces the layout. Raises StaleVersion if `version` is given and not the present one.

    The account must be opened with `writing`, or two requests could replace the same version.
    """
    before = await load_layout(account)
    if version is not None and version != before.version:
        raise StaleVersion(before.version)
    saved = SavedLayout(text, before.version + 1, now)
    if before.version == 0:
        await account.insert(Table, layout=text, version=saved.version, updated_at=now)
    else:
        values = {"layout": text, "version": saved.version, "updated_at": now}
        await account.update(Table, values)
    return saved
