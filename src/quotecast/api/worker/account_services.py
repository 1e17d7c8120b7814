"""The services of account routes, opened for one worker."""

import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

from quotecast.access.plans import Plan
from quotecast.access.shared import SharedAccess
from quotecast.api.accounts import logins
from quotecast.api.accounts.key_access import KeyAccess
from quotecast.api.accounts.logins import LoginWindow, Unlimited
from quotecast.api.gate.addresses import identify_by_address
from quotecast.api.market.services import Accounts
from quotecast.database.database import Database
from quotecast.limits.window import Window
from quotecast.observe import tracing
from quotecast.settings.model import Settings
from quotecast.users.passwords import Passwords
from quotecast.users.tokens import Tokens


def window_of(settings: Settings, name: str = "", **other: Any) -> Window:
    """Returns a rate-limit window that all workers share; `name` separates its keys from those of others."""
    return Window(
        settings.redis_url, prefix=settings.redis_prefix + name, traced=tracing.is_possible(), **other
    )


@contextlib.asynccontextmanager
async def open_accounts(settings: Settings, plans: Mapping[str, Plan]) -> AsyncIterator[Accounts]:
    """Opens the database, the tokens, the password hashing, the window of login attempts and the keys."""
    keys = [key for key in (settings.jwt_secret, settings.jwt_previous_secret) if key]
    attempts = window_of(settings, ":logins", seconds=logins.WINDOW_SECONDS, forgetful=True)
    database = Database(
        settings.database_url,
        pool_size=settings.database_connections,
        statement_cache=settings.database_statement_cache,
    )
    shared = SharedAccess(settings.redis_url, settings.redis_prefix)
    async with attempts, database, shared, Passwords() as passwords:
        yield Accounts(
            database=database,
            tokens=Tokens(keys, lifetime_seconds=settings.token_days * 86_400, clock=time.time),
            passwords=passwords,
            logins=LoginWindow(attempts if settings.limits != "off" else Unlimited(), settings.jwt_secret),
            keys=KeyAccess(database, shared, plans),
            address_of=identify_by_address(settings.trusted_proxies),
        )
