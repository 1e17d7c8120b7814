"""Export and import of holdings, over a real PostgreSQL."""

import asyncio
from typing import Any

import httpx
import pytest

from support.made.holdings import BOUGHT, HOLDINGS
from support.stages.account_service import AccountService, User

EXPORT, IMPORT = "/api/portfolio/export", "/api/portfolio/import"
HEADER = "ticker,shares,avg_cost,bought_at,currency\r\n"
FILE = HEADER + "AAPL,2,90.5,2026-03-02,USD\r\nbtc-usdt,0.00000001,0,2026-01-31,TRY\r\n"


async def load(user: User, body: str | bytes, path: str = IMPORT, **headers: str) -> httpx.Response:
    return await user.ask("POST", path, content=body, headers={"content-type": "text/csv", **headers})


async def listed(user: User) -> list[dict[str, Any]]:
    found = (await user.get(HOLDINGS)).json()
    return [{name: each[name] for name in BOUGHT} for each in found]


async def test_an_export_is_a_file(user: User) -> None:
    """The answer is CSV to save, without a byte order mark."""
    assert (await user.get(EXPORT)).text == HEADER
    await user.post(HOLDINGS, BOUGHT)
    response = await user.get(EXPORT)
    assert response.headers["content-type"] == "text/csv; charset=utf-8; header=present"
    assert response.headers["content-disposition"] == 'attachment; filename="holdings.csv"'
    assert response.headers["cache-control"] == "no-store"
    assert response.content == (HEADER + "AAPL,2,90.5,2026-03-02,USD\r\n").encode()


async def test_an_import_adds_all_rows(user: User) -> None:
    """They are in the order of the file, and the export is the file again."""
    response = await load(user, FILE)
    assert (response.status_code, response.json()) == (201, {"count": 2})
    assert [each["ticker"] for each in await listed(user)] == ["BTC/USDT", "AAPL"]
    assert (await user.get(EXPORT)).text == FILE.replace("btc-usdt", "BTC/USDT")


async def test_a_thousand_rows_round_trip(user: User) -> None:
    rows = "".join(f"AAPL,{number}.00000001,{number},2026-03-02,USD\r\n" for number in range(1, 1001))
    assert (await load(user, HEADER + rows)).json() == {"count": 1000}
    assert (await user.get(EXPORT)).text == HEADER + rows


async def test_a_dry_run_adds_nothing(user: User) -> None:
    """It answers the rows as the service understands them."""
    response = await load(user, FILE, f"{IMPORT}?dry_run=true")
    first = BOUGHT | {"type": "stock"}
    assert response.status_code == 200
    assert response.json()["count"] == 2
    assert response.json()["rows"][0] == first
    assert b'"shares":0.00000001,' in response.content
    assert await listed(user) == []


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
async def test_one_bad_row_adds_none(user: User, query: str) -> None:
    response = await load(user, FILE + "AAPL,0,1,,\r\n", IMPORT + query)
    assert response.status_code == 422
    assert response.json()["detail"] == "Invalid file"
    assert response.json()["errors"] == [
        {"field": "shares", "message": "Must be above 0 and below 10^12", "line": 4}
    ]
    assert await listed(user) == []


async def test_a_repetition_adds_nothing(user: User) -> None:
    """The key of an import is not one of another file, nor of a new holding."""
    first = await load(user, FILE, **{"idempotency-key": "one"})
    again = await load(user, FILE, **{"idempotency-key": "one"})
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    assert len(await listed(user)) == 2
    other = await load(user, HEADER + "AAPL,1,1,,\n", **{"idempotency-key": "one"})
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    holding = await user.post(HOLDINGS, BOUGHT, headers={"idempotency-key": "one"})
    assert holding.status_code == 422


async def test_imports_do_not_exceed_the_maximum(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is added, also by concurrent imports; a dry run says so too."""
    monkeypatch.setattr("quotecast.portfolio.portfolio.MAX_HOLDINGS", 5)
    answers = await asyncio.gather(*(load(user, FILE) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [201, 201, 409, 409]
    assert (await load(user, FILE, f"{IMPORT}?dry_run=true")).status_code == 409
    assert len(await listed(user)) == 4


async def test_a_file_has_a_size(user: User) -> None:
    """A file of 256 KB of blank lines is read; a larger one is 413."""
    blank = b"\r\n" * ((256 * 1024 - len(FILE)) // 2)
    assert (await load(user, FILE.encode() + blank)).status_code == 201
    assert (await load(user, FILE.encode() + blank + b"\r\n\r\n")).status_code == 413


async def test_files_are_private(service: AccountService, user: User) -> None:
    other = await service.register("other@example.com")
    await load(user, FILE)
    assert (await other.get(EXPORT)).text == HEADER
    for method, path in (("GET", EXPORT), ("POST", IMPORT)):
        assert (await service.client.request(method, path)).status_code == 401
