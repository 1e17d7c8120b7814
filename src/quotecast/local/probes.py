"""Whether a PostgreSQL or a Redis answers, and which version it is."""

import asyncio
from urllib.parse import urlsplit

import asyncpg
from redis.exceptions import RedisClusterException, RedisError

from quotecast.errors import QuotecastError
from quotecast.redis.client import check_writable, connect

_SECONDS = 3.0
#: What helps against words of PgBouncer's.
_ADVICE = {
    "startup parameter": "remove it from QUOTECAST_DATABASE_URL, or name it in PgBouncer's"
    " ignore_startup_parameters",
    "statement pooling mode": "PgBouncer needs pool_mode = transaction",
}


class NoAnswer(QuotecastError):
    """A server cannot be used; the message names its place and the reason, never a password."""

    code = "no_answer"


async def postgres(url: str) -> str:
    """The version of the PostgreSQL at `url`. Raises NoAnswer within a few seconds."""
    try:
        connection = await asyncpg.connect(url, timeout=_SECONDS)
        try:
            # Asked without a prepared statement, which PgBouncer might leave to another client.
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
    """The name and version of the Redis or Valkey at `url`, of a cluster those of one node.

    Raises NoAnswer within a few seconds, also if it takes no writes.
    """
    try:
        client = connect(url, "bus")
        try:
            async with asyncio.timeout(_SECONDS):
                await check_writable(client)
                about = await client.info("server")
        finally:
            await client.aclose()
    except (OSError, ValueError, RedisError, RedisClusterException) as error:
        raise NoAnswer(f"Redis at {place(url)} does not answer: {_reason(error)}") from error
    valkey = about.get("valkey_version")
    return f"Valkey {valkey}" if valkey else f"Redis {about['redis_version']}"


def place(url: str) -> str:
    """Where a URL points, without user, password and options."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or parts.path


def with_advice(reason: str) -> str:
    """An error's text, with the setting that helps where one does."""
    return "; ".join([reason, *(advice for words, advice in _ADVICE.items() if words in reason)])


def _reason(error: Exception) -> str:
    # A ValueError quotes the URL that it could not read, password and all.
    return "the URL cannot be read" if type(error) is ValueError else str(error) or type(error).__name__
