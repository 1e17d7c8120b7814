"""Files that are made to cost much: an import refuses each at once and adds nothing."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from support.stages.account_service import AccountService, User, account_service, count_rows

IMPORT = "/api/portfolio/import"
HEADER = b"ticker,shares,avg_cost,bought_at,currency\n"
#: Bytes of the largest file.
MOST = 256 * 1024
ROOM = MOST - len(HEADER)
BOMBS = {
    "blank lines": HEADER + b"\n" * ROOM,
    "short lines": HEADER + b"a\n" * (ROOM // 2),
    "commas": HEADER + b"," * ROOM,
    "commas in the header": b"," * MOST,
    "columns": b"ticker,shares,avg_cost" + b",x" * (MOST // 2 - 20),
    "quotes": HEADER + b'"' * ROOM,
    "an open quote": HEADER + b'"' + b"a" * (ROOM - 1),
    "quoted line breaks": HEADER + b'"' + b"\n" * (ROOM - 2) + b'"',
    "returns": b"\r" * MOST,
    "one cell": HEADER + b"A" * ROOM,
    "digits": HEADER + b"AAPL," + b"9" * (ROOM - 5),
    "exponents": HEADER + b"AAPL,1e9999,1,,\n" * 1000,
    "small exponents": HEADER + b"AAPL,1e-9999,1,,\n" * 1000,
    "nulls": b"\0" * MOST,
    "high bytes": b"\xff" * MOST,
    "UTF-16": "ticker,shares\n".encode("utf-16"),
    "formulas": HEADER + b'"=HYPERLINK(""http://x"")",1,1,,\n@SUM(A1),1,1,,\n+1,1,1,,\n-1,1,1,,\n',
    "markup": HEADER + b"<img src=x onerror=alert(1)>,1,1,,\n",
    "SQL": HEADER + b"AAPL'; DROP TABLE holdings; --,1,1,,\n",
}


@pytest_asyncio.fixture
async def service(accounts_url: str) -> AsyncIterator[AccountService]:
    async with account_service(accounts_url) as service:
        yield service


@pytest_asyncio.fixture
async def user(service: AccountService) -> User:
    return await service.register()


@pytest.mark.parametrize("name", BOMBS)
async def test_a_bomb_is_refused_and_adds_nothing(user: User, accounts_url: str, name: str) -> None:
    """The answer is small and repeats nothing of the file."""
    answer = await user.ask("POST", IMPORT, content=BOMBS[name], headers={"content-type": "text/csv"})
    assert answer.status_code == 422, answer.text[:200]
    assert len(answer.content) < 16_000
    for part in ("HYPERLINK", "onerror", "DROP TABLE", "AAAA", "9999999"):
        assert part not in answer.text
    assert await count_rows(accounts_url, "holdings") == 0


async def test_a_larger_file_is_not_read(user: User) -> None:
    answer = await user.ask("POST", IMPORT, content=b"," * (MOST + 1), headers={"content-type": "text/csv"})
    assert answer.status_code == 413


async def test_bombs_do_not_hold_the_worker(user: User) -> None:
    """All of them together cost less than a second of the event loop each; the worker answers between."""
    longest = 0.0
    for body in BOMBS.values():
        began = time.process_time()
        await user.ask("POST", f"{IMPORT}?dry_run=true", content=body, headers={"content-type": "text/csv"})
        longest = max(longest, time.process_time() - began)
        await asyncio.sleep(0)
    assert longest < 2
