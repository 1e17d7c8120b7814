"""What a user's API keys used, by key and day."""

from datetime import date, timedelta
from typing import Annotated, Final

from litestar import get
from litestar.params import QueryParameter

from quotecast.access.key_usage import UsageRow, usage_of_account
from quotecast.access.storage import KEY
from quotecast.api.answers.answers import Answer
from quotecast.api.answers.csv import CsvTable, Format, formatted_apart
from quotecast.api.answers.tables import columns
from quotecast.api.gate.identity import with_account
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import AccountOperation, answer, not_found, outcomes
from quotecast.api.routes.ids import require_id
from quotecast.database.tables import ApiKey
from quotecast.errors import InvalidValue, NotFound
from quotecast.users.account import Account

DEFAULT_DAYS: Final = 30
MAX_DAYS: Final = 400
FIRST_YEAR: Final = 2000

KeyId = Annotated[str, QueryParameter(description="Id of one of your API keys; all keys without it")]
First = Annotated[
    date | None,
    QueryParameter(name="from", description="First day in UTC; by default 29 days before the last one"),
]
Last = Annotated[date | None, QueryParameter(name="to", description="Last day in UTC; today by default")]

_SHOWN: Final = UsageRow(
    key_id="01a1fc87e0c47a905dd5d088",
    name="Price ticker",
    day=date(2026, 11, 20),
    requests=1843,
    refused=12,
    socket_minutes=1439.9,
    quotes=981_204,
    bytes=143_002_551,
)
_TABLE: Final = CsvTable(columns(UsageRow))


@get(
    "/usage",
    operation_id="listApiKeyUsage",
    summary="What your API keys used",
    operation_class=AccountOperation,
    responses=outcomes(
        200,
        list[UsageRow],
        [_SHOWN],
        "A row for each key and day with any use, the newest day first",
        422,
        others={404: not_found(KEY)},
    ),
)
async def usage(
    request: HttpRequest,
    key_id: KeyId = "",
    first: First = None,
    last: Last = None,
    form: Format = "json",
) -> Answer:
    """At most 400 days. Counts appear within 15 seconds of their use.

    A request counts when its answer starts; the handshake of a socket is one request. Answers of 401, 403 and
    429 count as refused too. Bytes are those of HTTP bodies as sent, and of messages on feeds before
    permessage-deflate or gzip.
    """
    if key_id:
        require_id(KEY, key_id)
    days = _days(first, last, services_of(request).wall_time().date())

    async def read(account: Account) -> list[UsageRow]:
        if key_id and not await account.select(ApiKey, ApiKey.id == key_id):
            raise NotFound(KEY)
        return await usage_of_account(account, *days, key_id or None)

    return await formatted_apart(answer(await with_account(request, read)), form, _TABLE)


def _days(first: date | None, last: date | None, today: date) -> tuple[date, date]:
    """Returns the first and the last day. Raises InvalidValue."""
    end = last or today
    if end.year < FIRST_YEAR:
        raise InvalidValue("to", f"Must be a day since {FIRST_YEAR}")
    begin = first or end - timedelta(days=DEFAULT_DAYS - 1)
    if not 0 <= (end - begin).days < MAX_DAYS:
        raise InvalidValue("from", f"Must be at most {MAX_DAYS - 1} days before `to`, and not after it")
    return begin, end
