"""Requests that take effect once, however often a client repeats them with one `Idempotency-Key`."""

import re
from collections.abc import Awaitable, Callable
from typing import Final

from quotecast.api.answers.answers import JSON, Answer
from quotecast.api.gate.identity import with_account
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.openapi import ID, refused
from quotecast.errors import InvalidValue, Problem
from quotecast.portfolio import portfolio
from quotecast.users.account import Account

#: The response of a request for which the portfolio has no room.
FULL: Final = refused(
    "The portfolio is full", Problem("You have the maximum of 1000 holdings; delete one first", "full", ID)
)

_KEY: Final = re.compile("[!-~]{1,255}")


def replay_key(request: HttpRequest) -> str | None:
    """Returns the `Idempotency-Key`; None without one. Raises InvalidValue."""
    key = request.headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise InvalidValue("Idempotency-Key", "Must have 1 to 255 visible ASCII characters")
    return key


async def run_once(
    request: HttpRequest,
    key: str | None,
    asked: bytes,
    body: bytes,
    write: Callable[[Account], Awaitable[None]],
) -> Answer:
    """Writes and answers 201 with the body; a repetition of `asked` gets the first answer and writes nothing.

    Raises KeyReused for another request with the key.
    """
    now = services_of(request).wall_time()

    async def write_once(account: Account) -> bytes | None:
        if key and (answered := await portfolio.earlier_answer(account, key, asked, now)):
            return answered
        await write(account)
        if key:
            await portfolio.remember_answer(account, key, asked, body, now)
        return None

    replayed = await with_account(request, write_once, writing=True)
    headers = [(b"content-type", JSON), *([(b"idempotent-replayed", b"true")] if replayed else [])]
    return Answer(replayed or body, headers, tag=None, status=201)
