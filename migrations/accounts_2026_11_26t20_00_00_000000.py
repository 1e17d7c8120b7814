"""Emails have their domain in Unicode, the form that log-in looks for."""

from typing import Final

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.table import Table

from quotecast.database.migrations import MigrationFailed
from quotecast.users.rules import lower_email

ID: Final = "2026-11-26T20:00:00:000000"
VERSION: Final = "1.38.0"
DESCRIPTION: Final = "Domains of emails in Unicode"


async def decode() -> None:
    """Decodes `xn--mnchen-3ya` to `münchen`. Raises MigrationFailed for two users with one email."""
    for row in await Table.raw("SELECT id, email FROM users WHERE email LIKE '%xn--%' ORDER BY id"):
        email = lower_email(row["email"])
        if email == row["email"]:
            continue
        if others := await Table.raw("SELECT id FROM users WHERE email = {}", email):
            raise MigrationFailed(
                f"{row['email']} (id {row['id']}) and {email} (id {others[0]['id']}) are one address:"
                " delete one of these users, or change its email, with SQL; then migrate again"
            )
        await Table.raw("UPDATE users SET email = {} WHERE id = {}", email, row["id"])


async def forwards() -> MigrationManager:
    """The decoded emails; backwards keeps them, as the former release finds them too."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(decode)
    return manager
