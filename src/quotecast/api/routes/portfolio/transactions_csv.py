"""Transactions of a file of CSV."""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

import msgspec
from litestar import post

from quotecast.api.answers.answers import Answer
from quotecast.api.gate.identity import with_account
from quotecast.api.market.lookup import Mirrors
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import answer, outcomes
from quotecast.api.reference.openapi import ID, refused
from quotecast.api.routes.portfolio.csv_rows import Sign, number_cell, records_of
from quotecast.api.routes.portfolio.portfolio_csv import DryRun, ImportOperation
from quotecast.api.routes.portfolio.transactions import AMOUNTS, FULL, NewTransaction, transaction_of
from quotecast.api.routes.retries import replay_key, run_once
from quotecast.database.ids import new_id
from quotecast.errors import FieldProblem, InvalidValue, Problem
from quotecast.market import codec
from quotecast.portfolio import transactions as stored
from quotecast.portfolio.ledger import Transaction
from quotecast.portfolio.transactions import MAX_TRANSACTIONS

#: Holds the export of a full ledger.
MAX_BYTES: Final = 1024 * 1024
_REQUIRED: Final = ("type", "ticker", "date")
#: Those of the export; the ids and times of creation are new.
_COLUMNS: Final = ("id", *_REQUIRED, "currency", *AMOUNTS, "created_at")
_FILE: Final = "type,ticker,date,currency,shares,price,fee\r\nbuy,AAPL,2026-03-02,USD,10,187.5,1\r\n"
_PROBLEM: Final = Problem(
    "Invalid file", "invalid", ID, [FieldProblem("price", "Must be given for a buy", 2)]
)


class ImportedTransactions(msgspec.Struct, frozen=True, kw_only=True):
    """The number of transactions in the file, and whether they were only checked."""

    count: int
    dry_run: bool


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
        200: outcomes(
            200, ImportedTransactions, ImportedTransactions(count=12, dry_run=True), "With `dry_run`"
        )[200],
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
