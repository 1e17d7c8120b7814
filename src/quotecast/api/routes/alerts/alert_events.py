"""A user's events: crossings that the user's alerts waited for, at once or when they come."""

import asyncio
from typing import Annotated, Final

from litestar import get
from litestar.params import QueryParameter
from msgspec import Struct

from quotecast.alerts import events as stored
from quotecast.alerts.events import Event
from quotecast.alerts.messages import EventShown, shown_event
from quotecast.api.answers.answers import Answer
from quotecast.api.gate.identity import claims_of, with_account
from quotecast.api.market.parameters import number_of, number_parameter
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import AccountOperation, answer, outcomes
from quotecast.api.reference.openapi import ID

MAX_EVENTS: Final = 500
MAX_WAIT_SECONDS: Final = 25
MAX_ID: Final = 2**53

After = Annotated[
    str | None,
    number_parameter(
        "after", "Only events after this id; by default the newest ones", minimum=0, maximum=MAX_ID
    ),
]
Limit = Annotated[int, QueryParameter(ge=1, le=MAX_EVENTS, description="Most events of an answer")]
WaitSeconds = Annotated[
    int,
    QueryParameter(
        ge=0,
        le=MAX_WAIT_SECONDS,
        description="With `after`: seconds to wait if there is none yet; four requests of a user may wait "
        "on a worker, and one more ends the oldest wait",
    ),
]


class Events(Struct, frozen=True):
    """Events in the order of their ids; `last` is the next request's `after`."""

    events: list[EventShown]
    last: int


_EVENT: Final = EventShown(
    id=17,
    alert_id=ID + "0" * 8,
    ticker="AAPL",
    type="stock",
    condition="rises",
    value=3.0,
    window="15m",
    note="",
    measured=3.02,
    price=300.02,
    happened_at="2026-11-20T15:30:00.000Z",
)


@get(
    "/events",
    operation_id="listAlertEvents",
    summary="Events of your alerts",
    operation_class=AccountOperation,
    responses=outcomes(200, Events, Events([_EVENT], 17), "The oldest first", 422),
)
async def events(
    request: HttpRequest, after: After = None, limit: Limit = 100, wait: WaitSeconds = 0
) -> Answer:
    """Long poll: ask with the `last` of the previous answer, and `wait=25`.

    The service answers as soon as there is an event, and with an empty list when the time is over.
    """
    last = number_of("after", after, 0, MAX_ID)
    if last is None:
        return _answer(await with_account(request, lambda account: stored.newest(account, limit)), 0)
    if not wait:
        return _answer(await _read(request, last, limit), last)
    with services_of(request).alerts.waits.wait(claims_of(request).sub) as waiting:
        clock = asyncio.get_running_loop().time
        deadline = clock() + wait
        while not (found := await _read(request, last, limit)) and not waiting.ended and clock() < deadline:
            await waiting.rest(deadline)
        return _answer(found, last)


async def _read(request: HttpRequest, after: int, limit: int) -> list[Event]:
    return await with_account(request, lambda account: stored.after(account, after, limit))


def _answer(found: list[Event], before: int) -> Answer:
    return answer(Events([shown_event(event) for event in found], found[-1].id if found else before))
