"""Tickets: a key opens one feed in a browser, which sends no headers there."""

from typing import Annotated, Final

from litestar import Router, post
from msgspec import Meta, Struct

from quotecast.access.shared import TICKET_SECONDS
from quotecast.api.answers import Answer
from quotecast.api.edge.identity import key_of, require_key
from quotecast.api.reference.account_operations import AccountOperation, outcomes, secret_answer
from quotecast.api.reference.openapi import ID, refused
from quotecast.api.services import HttpRequest, services_of
from quotecast.errors import Problem


class Ticket(Struct, frozen=True):
    """A ticket for one feed."""

    ticket: Annotated[str, Meta(description="For the parameter `ticket` of a feed's address, once")]
    expires_in: Annotated[int, Meta(description="Seconds until the ticket ends", examples=[TICKET_SECONDS])]


_TICKET: Final = Ticket("qc_ticket_hWQ1iVx1ZrnXKlbUfCnEbmSySNyBHRExM0Vu0Tq4cJc", TICKET_SECONDS)
_REFUSED: Final = refused(
    "The API key is missing, expired, revoked or unknown",
    Problem("Invalid, expired or revoked API key", "invalid_key", ID),
)


@post(
    "/ticket",
    operation_id="createTicket",
    status_code=200,
    operation_class=AccountOperation,
    summary="Make a ticket for a feed in a browser",
    security=[{"apiKey": []}],
    responses=outcomes(200, Ticket, _TICKET, "Made", others={401: _REFUSED}),
)
async def make_ticket(request: HttpRequest) -> Answer:
    """A page's own server calls this with its API key and gives the ticket to the page.

    A browser sends no headers with WebSockets and event streams. The page opens one feed with `?ticket=…`
    within 30 seconds. So no key stands in an address or in a page.
    """
    key = key_of(request.scope)
    ticket = await services_of(request).accounts.keys.make_ticket(key.id)
    return secret_answer(Ticket(ticket, TICKET_SECONDS))


ROUTER: Final = Router(
    "/api/keys",
    route_handlers=[make_ticket],
    guards=[require_key],
    tags=["API keys"],
    opt={"limit": "terminal"},
)
