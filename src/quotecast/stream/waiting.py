"""Waits of new clients and of commands for a mirror that is behind."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from quotecast.close_codes import CloseCode
from quotecast.feed.commands import Query, names_of
from quotecast.feed.mirror import Mirror
from quotecast.feed.session import is_ahead
from quotecast.stream.client import ConnectionEnded

CATCH_UP_SECONDS: Final = 2.0
CATCH_UP_STEP_SECONDS: Final = 0.01


async def wait_for_data(asked: Sequence[tuple[Mirror, Query]], *, among_feeds: bool = False) -> None:
    """Waits at most CATCH_UP_SECONDS for mirrors behind their clients' cursors, or without data yet.

    Raises ConnectionEnded if a query needs data that is still missing. `among_feeds`: one feed without data
    must not delay the others.
    """
    await wait_while(
        lambda: any(
            is_ahead(mirror, query.since)
            or (query.symbols is not None and not mirror.loaded and not among_feeds)
            for mirror, query in asked
        )
    )
    if not among_feeds and any(
        not mirror.loaded and (query.since is not None or names_of(query.symbols) not in ([], "all"))
        for mirror, query in asked
    ):
        # A refusal of the names or of the cursor would be final; after this close the client reconnects.
        raise ConnectionEnded(CloseCode.NO_DATA)


async def wait_while(is_behind: Callable[[], bool]) -> None:
    """Waits at most CATCH_UP_SECONDS for a mirror."""
    for _ in range(int(CATCH_UP_SECONDS / CATCH_UP_STEP_SECONDS)):
        if not is_behind():
            return
        await asyncio.sleep(CATCH_UP_STEP_SECONDS)
