"""The value of the portfolio over time."""

import asyncio
import hashlib
from datetime import date
from typing import Annotated, Final, Literal

from litestar import get
from litestar.params import QueryParameter
from msgspec import Struct

from quotecast.api.answers.answers import JSON, Answer, SharedBody
from quotecast.api.gate.identity import with_account
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import AccountOperation, outcomes
from quotecast.api.routes.as_of import AsOf, view_as_of
from quotecast.api.routes.portfolio.holding_values import currency_code
from quotecast.api.routes.portfolio.worth_history import Missing, worth_history
from quotecast.cache.base import Policy
from quotecast.market.codec import encode_json
from quotecast.portfolio import transactions as stored
from quotecast.portfolio.ledger import Held, held_shares
from quotecast.users.account import Account

#: Seconds for which an answer is the same, unless the holdings change.
_POLICY: Final = Policy(fresh_seconds=60, stale_seconds=120)
_VERSION: Final = 2

Span = Annotated[
    Literal["1M", "3M", "6M", "YTD", "1Y", "5Y"],
    QueryParameter(name="range", description="How far back the values reach: each day, of `5Y` each week"),
]
Currency = Annotated[str, QueryParameter(description="The ISO 4217 code of the values, in any case")]


class ValuePoint(Struct, frozen=True):
    """The value at the end of a day, so far of today; null where a close or a rate is unknown."""

    date: date
    value: float | None


class PortfolioValue(Struct, frozen=True, kw_only=True):
    """Values from the first purchase in the range on, and the tickers that they lack.

    A ticker is left out because no feed has it (`unknown`), because it has no bars in the range (`bars`) or
    no rate to the currency (`rate`), or because 100 symbols were read already (`limit`). A `late` ticker is
    not left out: its bars and rates begin `since` a day, and the values before it are null.
    """

    currency: str
    range: str
    points: list[ValuePoint]
    missing: list[Missing]


_SHOWN: Final = PortfolioValue(
    currency="USD",
    range="1M",
    points=[ValuePoint(date(2026, 11, 19), 18.771), ValuePoint(date(2026, 11, 20), 18.984)],
    missing=[Missing("GRAM-ALTIN", "rate")],
)


@get(
    "/value",
    operation_id="getPortfolioValue",
    summary="The value of your holdings over time",
    operation_class=AccountOperation,
    responses=outcomes(200, PortfolioValue, _SHOWN, "Ascending by date", 422),
)
async def value(
    request: HttpRequest, span: Span = "3M", currency: Currency = "USD", as_of: AsOf = None
) -> Answer:
    """Holdings and transactions count from their days on; a split of the ledger counts for all shares before.

    Closes are those of the daily bars that the service answers. Rates are closes of its doviz and crypto bars
    on the same day. A close stands for the ten days after it at most.

    With `as_of` the range ends then, and the values are of the entries that you had made and of the closes
    that the service had read. What you delete or change later is deleted or changed in all answers.
    """
    code, services = currency_code(currency), view_as_of(services_of(request), as_of)

    async def read(account: Account) -> tuple[str, list[Held]]:
        entries = await stored.ledger(account)
        if services.as_of is not None:
            entries = [each for each in entries if each.created_at.timestamp() <= services.as_of]
        return account.user.id, await asyncio.to_thread(held_shares, entries)

    user_id, owned = await with_account(request, read)

    async def fetch() -> bytes:
        found = await worth_history(services, owned, span, code)
        points = [ValuePoint(*each) for each in zip(found.days, found.values, strict=True)]
        return encode_json(PortfolioValue(currency=code, range=span, points=points, missing=[*found.missing]))

    # Other holdings have another key at once.
    lots = [(each.ticker, each.shares, each.day) for each in owned]
    digest = hashlib.blake2b(encode_json((user_id, lots)), digest_size=16).hexdigest()
    moment = "" if services.as_of is None else services.as_of
    key = f"portfolio:value{_VERSION}:{digest}:{span}:{code}:{moment}"
    cached = await services.cache.read(key, _POLICY, fetch)
    return Answer(SharedBody(cached.body), [(b"content-type", JSON)], tag=None)
