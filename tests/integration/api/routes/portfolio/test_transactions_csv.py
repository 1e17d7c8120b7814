"""Export and import of transactions, over a real PostgreSQL."""

import pytest

from support.stages.account_service import AccountService, User
from support.stages.caching import Clock

TRANSACTIONS = "/api/portfolio/transactions"
POSITIONS = "/api/portfolio/positions"
IMPORT = f"{TRANSACTIONS}/import"
BUY = {"type": "buy", "ticker": "AAPL", "date": "2026-03-02", "shares": 10, "price": 90.1, "fee": 1.5}
SELL = {"type": "sell", "ticker": "AAPL", "date": "2026-05-04", "shares": 4, "price": 110, "fee": 1}


async def test_the_table_of_transactions_can_be_imported(
    service: AccountService, user: User, clock: Clock
) -> None:
    """Rows of one day keep their order, so what is imported adds up to the same positions."""
    split = {"type": "split", "ticker": "AAPL", "date": "2026-04-01", "old_shares": 1, "new_shares": 4}
    fee = {"type": "fee", "ticker": "MSFT", "date": "2026-05-04", "amount": 3}
    day = {"ticker": "MSFT", "date": "2026-06-01"}
    for each in (BUY, split, SELL, fee, BUY | day):
        await user.post(TRANSACTIONS, each)
    clock.now += 1
    await user.post(TRANSACTIONS, SELL | day)
    table = (await user.get(f"{TRANSACTIONS}?format=csv")).content
    other = await service.register("other@example.com")
    checked = await other.ask("POST", f"{IMPORT}?dry_run=true", content=table)
    assert (checked.status_code, checked.json()) == (200, {"count": 6, "dry_run": True})
    assert (await other.get(TRANSACTIONS)).json() == []
    imported = await other.ask("POST", IMPORT, content=table, headers={"Idempotency-Key": "file"})
    again = await other.ask("POST", IMPORT, content=table, headers={"Idempotency-Key": "file"})
    assert (imported.status_code, imported.json()) == (201, {"count": 6, "dry_run": False})
    assert again.headers["idempotent-replayed"] == "true"
    assert (await other.get(POSITIONS)).json() == (await user.get(POSITIONS)).json()


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ("type,ticker\nbuy,AAPL\n", ("date", 1)),
        ("type,ticker,date,shares\nbuy,AAPL,2026-03-02,10\n", ("price", 2)),
        ("type,ticker,date,shares,price\nbuy,AAPL,2026-03-02,10,1\ngift,AAPL,2026-03-02,1,1\n", ("type", 3)),
        ("type;ticker;date;shares;price\nbuy;AAPL;2026-03-02;1,5;2,25\nbuy;;2026-03-02;1;1\n", ("ticker", 3)),
        ("type,ticker,date,amount,wish\nfee,AAPL,2026-03-02,1,2\n", ("", 1)),
    ],
)
async def test_a_bad_file_adds_nothing(user: User, file: str, problem: tuple[str, int]) -> None:
    response = await user.ask("POST", IMPORT, content=file)
    assert response.status_code == 422, response.text
    (found,) = response.json()["errors"]
    assert (found["field"], found["line"]) == problem
    assert (await user.get(TRANSACTIONS)).json() == []


async def test_a_file_cannot_sell_what_nobody_holds(user: User) -> None:
    file = "type,ticker,date,shares,price\nbuy,AAPL,2026-03-02,1,1\nsell,AAPL,2026-03-03,2,1\n"
    for path in (IMPORT, f"{IMPORT}?dry_run=true"):
        assert (await user.ask("POST", path, content=file)).status_code == 422
    assert (await user.get(TRANSACTIONS)).json() == []
