"""The ledger of a portfolio: its transactions, one by one and as a file of CSV."""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Final

import msgspec
from litestar import delete, get, post
from litestar.params import FromPath
from msgspec import UNSET, Meta, Struct, UnsetType

from quotecast.api.answers.answers import Answer
from quotecast.api.answers.csv import CsvTable, Format, formatted
from quotecast.api.answers.tables import columns
from quotecast.api.gate.identity import with_account
from quotecast.api.market.names import Mirrors
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import (
    AccountOperation,
    answer,
    none_left,
    not_found,
    outcomes,
    replayable,
    taking,
)
from quotecast.api.reference.openapi import ID, described, refused
from quotecast.api.routes.bodies import body_of
from quotecast.api.routes.days import past_day
from quotecast.api.routes.portfolio.csv_rows import Sign, number_cell, records_of
from quotecast.api.routes.portfolio.holding_values import (
    EARLIEST,
    Cost,
    Shares,
    amount_of,
    currency_code,
    ticker_of,
)
from quotecast.api.routes.portfolio.holdings_shown import Amount
from quotecast.api.routes.portfolio.portfolio_csv import DryRun, ImportOperation
from quotecast.api.routes.retries import replay_key, run_once
from quotecast.database.ids import new_id, require_id
from quotecast.errors import FieldProblem, InvalidValue, Problem
from quotecast.market import codec, money
from quotecast.portfolio import transactions as stored
from quotecast.portfolio.ledger import MAX_RATIO, Transaction, TransactionType
from quotecast.portfolio.transactions import MAX_TRANSACTIONS

#: The fields that each type needs, and those that it may have.
NEEDED: Final[Mapping[TransactionType, tuple[str, ...]]] = {
    "buy": ("shares", "price"),
    "sell": ("shares", "price"),
    "dividend": ("amount",),
    "fee": ("amount",),
    "split": ("old_shares", "new_shares"),
}
OPTIONAL: Final[Mapping[TransactionType, tuple[str, ...]]] = {"buy": ("fee",), "sell": ("fee",)}
AMOUNTS: Final = ("shares", "price", "fee", "amount", "old_shares", "new_shares")
#: Amounts that may be zero.
_FREE: Final = frozenset({"price", "fee"})
#: Holds the export of a full ledger.
MAX_BYTES: Final = 1024 * 1024
_REQUIRED: Final = ("type", "ticker", "date")
#: Those of the export; the ids and times of creation are new.
_COLUMNS: Final = ("id", *_REQUIRED, "currency", *AMOUNTS, "created_at")
_FILE: Final = "type,ticker,date,currency,shares,price,fee\r\nbuy,AAPL,2026-03-02,USD,10,187.5,1\r\n"
_PROBLEM: Final = Problem(
    "Invalid file", "invalid", ID, [FieldProblem("price", "Must be given for a buy", 2)]
)


class TransactionShown(Struct, frozen=True, kw_only=True):
    """An entry of the ledger; a field that its type lacks is null.

    Buys and sales have `shares`, a `price` of each and a `fee`; dividends and fees have an `amount`. After a
    split `old_shares` are `new_shares`.
    """

    id: str
    type: TransactionType
    ticker: str
    date: date
    currency: str
    shares: Amount | None
    price: Amount | None
    fee: Amount | None
    amount: Amount | None
    old_shares: Amount | None
    new_shares: Amount | None
    created_at: str


class NewTransaction(Struct, frozen=True):
    """The body of a request that adds a transaction."""

    type: TransactionType
    ticker: Annotated[str, Meta(description="A stock, pair, currency or metal, in any case")]
    date: Annotated[str, Meta(description="YYYY-MM-DD, not in the future")]
    currency: Annotated[str, Meta(description="A code of ISO 4217, in any case")] = "USD"
    shares: Shares | UnsetType = UNSET
    price: Cost | UnsetType = UNSET
    fee: Cost | UnsetType = UNSET
    amount: Shares | UnsetType = UNSET
    old_shares: Shares | UnsetType = UNSET
    new_shares: Shares | UnsetType = UNSET


class ImportedTransactions(Struct, frozen=True, kw_only=True):
    """The number of transactions in the file, and whether they were only checked."""

    count: int
    dry_run: bool


SHOWN: Final = TransactionShown(
    id="01a1fc87e0c47a905dd5d0a1",
    type="buy",
    ticker="AAPL",
    date=date(2026, 3, 2),
    currency="USD",
    shares=10,
    price=187.5,
    fee=1,
    amount=None,
    old_shares=None,
    new_shares=None,
    created_at="2026-11-20T15:30:00.000Z",
)
FULL: Final = refused(
    "The ledger is full", Problem("You have the maximum of 5000 transactions; delete one first", "full", ID)
)
_GIVEN: Final = {
    "type": "buy", "ticker": "AAPL", "date": "2026-03-02", "shares": 10, "price": 187.5, "fee": 1,
}  # fmt: skip
#: The oldest first, since an import enters the rows of a day in the order of the file.
_TABLE: Final = CsvTable(columns(TransactionShown), lambda rows: rows[::-1])


@get(
    "/transactions",
    operation_id="listTransactions",
    summary="Your transactions",
    operation_class=AccountOperation,
    responses=outcomes(200, list[TransactionShown], [SHOWN], "The newest day first", 422),
)
async def transactions(request: HttpRequest, form: Format = "json") -> Answer:
    """Holdings are not among them; positions count each holding as a buy. An import takes the CSV.

    The CSV has the oldest day first.
    """
    owned = await with_account(request, stored.transactions)
    return formatted(answer([*map(encoded, owned)]), form, _TABLE)


@post(
    "/transactions",
    operation_id="createTransaction",
    summary="Add a transaction",
    operation_class=taking(NewTransaction, _GIVEN, headers=replayable()),
    responses=outcomes(201, TransactionShown, SHOWN, "The new transaction", body=True, others={409: FULL}),
)
async def add(request: HttpRequest) -> Answer:
    """Answers 422 to a sale of more shares than there are on its day, also if a later one needs them.

    With an `Idempotency-Key`, a retry within 24 hours gets the same answer and adds nothing.
    """
    key, services = replay_key(request), services_of(request)
    now = services.wall_time()
    given = await body_of(request, NewTransaction)
    amounts = {name: bytes(value) for name in AMOUNTS if (value := getattr(given, name)) is not UNSET}
    new = transaction_of(given, amounts, services.mirrors, new_id(services.clock), now)
    body = codec.encode_json(encoded(new))
    # The ticker as it was given: a retry may come when the feeds spell it in another way.
    ticker = given.ticker.strip().upper()
    asked = codec.encode_json((new.type, ticker, new.date, new.currency, amounts))
    return await run_once(
        request, key, b"transaction " + asked, body, lambda account: stored.add(account, [new])
    )


@delete(
    "/transactions/{transaction_id:str}",
    operation_id="deleteTransaction",
    summary="Remove a transaction",
    operation_class=AccountOperation,
    responses=none_left("Removed", 422, others={404: not_found("Transaction")}),
)
async def remove(request: HttpRequest, transaction_id: FromPath[str]) -> None:
    """A buy whose shares were sold stays until that sale is removed."""
    require_id("Transaction", transaction_id)
    await with_account(request, lambda account: stored.remove(account, transaction_id), writing=True)


@post(
    "/transactions/import",
    operation_id="importTransactions",
    summary="Add the transactions of a CSV file",
    operation_class=ImportOperation.of(_FILE),
    request_max_body_size=MAX_BYTES,
    responses={
        **outcomes(
            201,
            ImportedTransactions,
            ImportedTransactions(count=12, dry_run=False),
            "All are added",
            body=True,
        ),
        200: described(ImportedTransactions, ImportedTransactions(count=12, dry_run=True), "With `dry_run`"),
        409: FULL,
        422: refused("No row is added: each problem has its line and column", _PROBLEM),
    },
)
async def import_transactions(request: HttpRequest, *, dry_run: DryRun = False) -> Answer:
    """Adds all rows or none: at most 5000 rows and 1 MB of UTF-8.

    The columns are those of the list as CSV, in any order; a cell that the row's type has no use for is
    empty. Rows of one day take effect in the order of the file. With an `Idempotency-Key`, a retry within 24
    hours adds nothing more.
    """
    key, services = replay_key(request), services_of(request)
    now = services.wall_time()
    body = await request.body()
    # Sorted, so that the rows stay in the order of the file.
    ids = sorted(new_id(now.timestamp) for _ in range(MAX_TRANSACTIONS))
    # In a thread: thousands of rows take longer than other requests should wait.
    new = await asyncio.to_thread(transactions_of, body, services.mirrors, ids, now)
    if dry_run:
        await with_account(request, lambda account: stored.check_all(account, new))
        return answer(ImportedTransactions(count=len(new), dry_run=True))
    made = codec.encode_json(ImportedTransactions(count=len(new), dry_run=False))
    asked = b"import transactions " + body
    return await run_once(request, key, asked, made, lambda account: stored.add(account, new))


def transaction_of(
    given: NewTransaction,
    amounts: Mapping[str, bytes],
    mirrors: Mirrors,
    transaction_id: str,
    now: datetime,
) -> Transaction:
    """Returns the transaction to store. Raises InvalidValue."""
    needed, optional = NEEDED[given.type], OPTIONAL.get(given.type, ())
    for name in needed:
        if name not in amounts:
            raise InvalidValue(name, f"Must be given for a {given.type}")
    for name in amounts:
        if name not in (*needed, *optional):
            raise InvalidValue(name, f"Must not be given for a {given.type}")
    found = {name: amount_of(name, number, zero=name in _FREE) for name, number in amounts.items()}
    if given.type == "split":
        old, new = found["old_shares"], found["new_shares"]
        if max(old, new) > MAX_RATIO * min(old, new):
            raise InvalidValue(
                "new_shares", f"Must be at most {MAX_RATIO} times as many as old_shares, or as few"
            )
    return Transaction(
        id=transaction_id,
        type=given.type,
        ticker=ticker_of(given.ticker, mirrors),
        date=past_day("date", given.date, now, EARLIEST),
        currency=currency_code(given.currency),
        created_at=now,
        **found,
    )


def transactions_of(body: bytes, mirrors: Mirrors, ids: Iterable[str], now: datetime) -> list[Transaction]:
    """Returns the transactions of a file, in its order, with the given ids. Raises InvalidRows."""
    free_ids = iter(ids)

    def make(cells: Mapping[str, str], sign: Sign | None) -> Transaction:
        texts = {name: text for name in (*_REQUIRED, "currency") if (text := cells.get(name))}
        try:
            given = msgspec.convert(texts | {"type": texts["type"].lower()}, NewTransaction)
        except msgspec.ValidationError as error:
            raise InvalidValue("type", "Must be buy, sell, dividend, fee or split") from error
        amounts = {name: number_cell(name, cells[name], sign) for name in AMOUNTS if name in cells}
        return transaction_of(given, amounts, mirrors, next(free_ids), now)

    return records_of(body, make, known=_COLUMNS, required=_REQUIRED, numbers=AMOUNTS, most=MAX_TRANSACTIONS)


def encoded(entry: Transaction) -> Mapping[str, Any]:
    """Returns a TransactionShown whose amounts are encoded JSON."""
    given: Mapping[str, Decimal | None] = {name: getattr(entry, name) for name in AMOUNTS}
    amounts = {name: None if each is None else money.without_zeros(each) for name, each in given.items()}
    return {
        "id": entry.id,
        "type": entry.type,
        "ticker": entry.ticker,
        "date": entry.date,
        "currency": entry.currency,
        **{name: money.amount_json(each) for name, each in amounts.items()},
        "created_at": codec.iso_utc(entry.created_at.timestamp()),
    }


BODIES: Final[tuple[type[Struct], ...]] = (NewTransaction,)
