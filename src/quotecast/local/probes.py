"""Probes of PostgreSQL and Redis: does the server answer, and which version is it?"""

import asyncio
from urllib.parse import urlsplit

import asyncpg
from redis.exceptions import NoPermissionError, RedisClusterException, RedisError

from quotecast.errors import QuotecastError
from quotecast.redis.client import check_writable, connect

_SECONDS = 3.0
#: Advice by a part of PgBouncer's error texts.
_ADVICE = {
    "startup parameter": "remove it from QUOTECAST_DATABASE_URL, or name it in PgBouncer's"
    " ignore_startup_parameters",
    "statement pooling mode": "PgBouncer needs pool_mode = transaction",
}


class NoAnswer(QuotecastError):
    """A server is unusable; the message has its address and the reason, never a password."""


async def postgres(url: str) -> str:
    """Returns the version of the PostgreSQL at `url`. Raises NoAnswer within a few seconds."""
    try:
        connection = await asyncpg.connect(url, timeout=_SECONDS)
        try:
            # A simple query: PgBouncer might leave a prepared statement to another client.
            await connection.execute("SELECT 1", timeout=_SECONDS)
            version: str = connection.get_settings().server_version
        finally:
            connection.terminate()
    except (OSError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise NoAnswer(
            f"PostgreSQL at {place(url)} does not answer: {with_advice(_reason(error))}"
        ) from error
    return f"PostgreSQL {version.split(maxsplit=1)[0]}"


async def cache(url: str) -> str:
    """Returns the name and version of the Redis or Valkey at `url`; for a cluster, those of one node.

    Raises NoAnswer within a few seconds, also if the server refuses writes.
    """
    try:
        client = connect(url, "bus")
        try:
            async with asyncio.timeout(_SECONDS):
                await check_writable(client)
                about = await client.info("server")
        except NoPermissionError as error:
            if "'info'" not in str(error):
                raise
            return "Redis (its user may not read the version)"
        finally:
            await client.aclose()
    except (OSError, ValueError, RedisError, RedisClusterException) as error:
        raise NoAnswer(f"Redis at {place(url)} does not answer: {_reason(error)}") from error
    valkey = about.get("valkey_version")
    return f"Valkey {valkey}" if valkey else f"Redis {about['redis_version']}"


def place(url: str) -> str:
    """Returns a URL's host and port, or its path, without user, password and options."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or parts.path


def with_advice(reason: str) -> str:
    """Returns an error's text, with advice on settings where there is some."""
    return "; ".join([reason, *(advice for words, advice in _ADVICE.items() if words in reason)])


def _reason(error: Exception) -> str:
    # The text of a ValueError quotes the unreadable URL with its password.
    return "the URL cannot be read" if type(error) is ValueError else str(error) or type(error).__name__
