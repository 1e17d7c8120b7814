"""Tickets: a key or a user's session opens one feed in a browser, which sends no headers there."""

from typing import Annotated, Final

from litestar import Router, post
from msgspec import Meta, Struct

from quotecast.access.shared import TICKET_SECONDS
from quotecast.api.answers.answers import Answer
from quotecast.api.gate.identity import key_of, require_key, require_token, with_account
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import SECURED, AccountOperation, outcomes, secret_answer
from quotecast.api.reference.openapi import ID, refused
from quotecast.errors import Problem
from quotecast.users.account import Account


class Ticket(Struct, frozen=True):
    """A ticket for one feed."""

    ticket: Annotated[str, Meta(description="For the parameter `ticket` of a feed's address, once")]
    expires_in: Annotated[int, Meta(description="Seconds until the ticket ends", examples=[TICKET_SECONDS])]


_TICKET: Final = Ticket("qc_ticket_hWQ1iVx1ZrnXKlbUfCnEbmSySNyBHRExM0Vu0Tq4cJc", TICKET_SECONDS)
_REFUSED: Final = refused(
    "The API key is missing, expired, revoked or unknown",
    Problem("The API key is invalid, expired or revoked", "invalid_key", ID),
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


class UserTicket(Struct, frozen=True):
    """A ticket for one feed, where users have a plan of their own."""

    ticket: Annotated[
        str | None,
        Meta(
            description="For the parameter `ticket` of a feed's address, once; "
            "null if users have the anonymous plan"
        ),
    ]
    expires_in: Annotated[int, Meta(description="Seconds until the ticket ends", examples=[TICKET_SECONDS])]


@post(
    "/ticket",
    operation_id="createUserTicket",
    status_code=200,
    guards=[require_token],
    operation_class=AccountOperation,
    summary="Make a ticket for a feed of a user",
    security=SECURED,
    responses=outcomes(200, UserTicket, UserTicket(_TICKET.ticket, TICKET_SECONDS), "Made, or not needed"),
    opt={"feed": None, "limit": "terminal"},
)
async def make_user_ticket(request: HttpRequest) -> Answer:
    """A page calls this with the token of its user, and opens one feed with `?ticket=…` within 30 seconds.

    The feed has the plan of users. It ends within a second of the session, with close code 4452.
    """
    keys, ticket = services_of(request).accounts.keys, None
    # Where feeds need no tickets, no database may keep a page from its quotes.
    if keys.users_differ and (session := await with_account(request, _session_of)):
        ticket = await keys.make_session_ticket(session)
    return secret_answer(UserTicket(ticket, TICKET_SECONDS))


async def _session_of(account: Account) -> str | None:
    return account.session


USER_ROUTER: Final = Router("/api/auth", route_handlers=[make_user_ticket], tags=["Accounts"])

ROUTER: Final = Router(
    "/api/keys",
    route_handlers=[make_ticket],
    guards=[require_key],
    tags=["API keys"],
    opt={"feed": None, "limit": "terminal"},
)
