"""Holdings as a file of CSV, out and in: a header line, then a line for each holding."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, ClassVar, Final, cast

from litestar import get, post
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIResponse, OpenAPIType, RequestBody, Schema
from litestar.openapi.spec.enums import OpenAPIFormat
from litestar.openapi.spec.example import Example
from litestar.params import QueryParameter
from msgspec import UNSET, Struct, UnsetType

from quotecast.api.answers.answers import Answer, SharedBody
from quotecast.api.answers.csv import CSV
from quotecast.api.gate.identity import with_account
from quotecast.api.market.names import Mirrors
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import AccountOperation, answer, outcomes, replayable
from quotecast.api.reference.openapi import ID, described, refused
from quotecast.api.routes.portfolio.csv_rows import MAX_ROWS, Sign, number_cell, records_of
from quotecast.api.routes.portfolio.holding_values import (
    bought_at_of,
    cost_of,
    currency_code,
    shares_of,
    ticker_of,
    today_of,
)
from quotecast.api.routes.portfolio.holdings_shown import Amount, encode_holding
from quotecast.api.routes.retries import FULL, replay_key, run_once
from quotecast.csv_text import write_csv
from quotecast.database.ids import new_id
from quotecast.errors import FieldProblem, Problem
from quotecast.market import codec, money
from quotecast.market.feeds import Kind
from quotecast.portfolio import portfolio
from quotecast.portfolio.portfolio import Holding

MAX_BYTES: Final = 256 * 1024
COLUMNS: Final = ("ticker", "shares", "avg_cost", "bought_at", "currency")
_FILE: Final = "ticker,shares,avg_cost,bought_at,currency\r\nAAPL,0.1,187.5,2026-03-02,USD\r\n"

DryRun = Annotated[bool, QueryParameter(description="Checks the file and answers its rows; adds nothing")]


class RowShown(Struct, frozen=True, kw_only=True):
    """A holding as the file says it; `type` is null while no feed has the ticker."""

    ticker: str
    shares: Amount
    avg_cost: Amount
    bought_at: date
    currency: str
    type: Kind | None = None


class Imported(Struct, frozen=True, kw_only=True):
    """The number of holdings in the file, and after a dry run the holdings."""

    count: int
    rows: list[RowShown] | UnsetType = UNSET


_SHOWN: Final = RowShown(
    ticker="AAPL", shares=0.1, avg_cost=187.5, bought_at=date(2026, 3, 2), currency="USD", type="stock"
)
_PROBLEM: Final = Problem(
    "Invalid file", "invalid", ID, [FieldProblem("shares", "Must be above 0 and below 10^12", 2)]
)


def _media(file: str, form: OpenAPIFormat | None = None) -> OpenAPIMediaType:
    schema = Schema(type=OpenAPIType.STRING, format=form)
    return OpenAPIMediaType(schema=schema, examples={"example": Example(value=file)})


@dataclass
class ExportOperation(AccountOperation):
    """An operation that answers CSV."""

    def __post_init__(self) -> None:
        """Replaces the framework's JSON."""
        super().__post_init__()
        good = cast("dict[str, OpenAPIResponse]", self.responses)["200"]
        good.content = {"text/csv": _media(_FILE)}


@dataclass
class ImportOperation(AccountOperation):
    """An operation that takes CSV."""

    file: ClassVar[str] = _FILE

    def __post_init__(self) -> None:
        """Adds the body and the header that makes a retry safe."""
        # The same body twice, for generators of clients that know no CSV.
        media = {"text/csv": _media(self.file)}
        media["application/octet-stream"] = _media(self.file, OpenAPIFormat.BINARY)
        self.request_body = RequestBody(media, required=True)
        self.parameters = [*(self.parameters or []), *replayable()]
        super().__post_init__()

    @classmethod
    def of(cls, file: str) -> "type[ImportOperation]":
        """Returns the operation class of files like this one."""
        return type("ImportOperation", (cls,), {"file": file})


@get(
    "/export",
    operation_id="exportHoldings",
    summary="Your holdings as CSV",
    operation_class=ExportOperation,
    responses=outcomes(200, str, _FILE, "A header line, then a line for each holding, the oldest first"),
)
async def export(request: HttpRequest) -> Answer:
    """RFC 4180 in UTF-8 without a byte order mark. An import of the file adds exactly these holdings."""
    owned = await with_account(request, portfolio.holdings)
    headers = [(b"content-type", CSV), (b"content-disposition", b'attachment; filename="holdings.csv"')]
    return Answer(SharedBody(holdings_csv(owned), CSV), headers, tag=None)


@post(
    "/import",
    operation_id="importHoldings",
    summary="Add the holdings of a CSV file",
    operation_class=ImportOperation,
    request_max_body_size=MAX_BYTES,
    responses={
        **outcomes(201, Imported, Imported(count=12), "All rows are added", body=True),
        200: described(Imported, Imported(count=1, rows=[_SHOWN]), "With `dry_run`: nothing is added"),
        409: FULL,
        422: refused("No row is added: each problem has its line and column", _PROBLEM),
    },
)
async def import_file(request: HttpRequest, *, dry_run: DryRun = False) -> Answer:
    """Adds all rows or none: at most 1000 rows and 256 KB of UTF-8.

    The columns are those of the export, in any order; `bought_at` and `currency` may be left out. Semicolons
    may separate the cells. A file has one decimal sign, point or comma, and no sign between thousands. With
    an `Idempotency-Key`, a retry within 24 hours adds nothing more.
    """
    key, services = replay_key(request), services_of(request)
    now = services.wall_time()
    body = await request.body()
    # Sorted, so that the rows stay in the order of the file.
    ids = sorted(new_id(now.timestamp) for _ in range(MAX_ROWS))
    new = holdings_of(body, services.mirrors, ids, now)
    if dry_run:
        await with_account(request, lambda account: portfolio.check_room(account, len(new)))
        shown = (encode_holding(each, services.mirrors) for each in new)
        rows = [{name: each[name] for name in RowShown.__struct_fields__} for each in shown]
        return answer({"count": len(new), "rows": rows})
    made = codec.encode_json(Imported(count=len(new)))
    asked = b"import " + body
    return await run_once(request, key, asked, made, lambda account: portfolio.add(account, *new))


def holdings_csv(holdings: Iterable[Holding]) -> bytes:
    """Returns the file of holdings (RFC 4180), oldest first, with exact amounts."""
    rows: list[list[str]] = []
    for each in sorted(holdings, key=lambda holding: holding.id):
        amounts = (f"{money.without_zeros(amount):f}" for amount in (each.shares, each.avg_cost))
        rows.append([each.ticker, *amounts, each.bought_at.isoformat(), each.currency])
    return write_csv(COLUMNS, rows)


def holdings_of(body: bytes, mirrors: Mirrors, ids: Iterable[str], now: datetime) -> list[Holding]:
    """Returns the holdings of a file, in its order, with the given ids. Raises InvalidRows.

    `bought_at` and `currency` may be missing or empty.
    """
    free_ids = iter(ids)

    def make(cells: Mapping[str, str], sign: Sign | None) -> Holding:
        ticker = ticker_of(cells["ticker"], mirrors)
        return Holding(
            id=next(free_ids),
            ticker=ticker,
            shares=shares_of(number_cell("shares", cells["shares"], sign)),
            avg_cost=cost_of(number_cell("avg_cost", cells["avg_cost"], sign)),
            bought_at=bought_at_of(cells["bought_at"], now)
            if "bought_at" in cells
            else today_of(ticker, mirrors, now),
            currency=currency_code(cells.get("currency", "USD")),
            created_at=now,
        )

    return records_of(body, make, known=COLUMNS, required=COLUMNS[:3], numbers=COLUMNS[1:3])
