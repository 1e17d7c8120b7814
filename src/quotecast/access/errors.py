"""Errors of API keys and plans."""

from quotecast.close_codes import CloseCode
from quotecast.errors import InvalidToken, NotAuthenticated, QuotecastError


class InvalidKey(NotAuthenticated):
    """The API key or ticket is unknown, expired, revoked or malformed; clients do not learn which."""

    code = "invalid_key"
    cause = "the API key or ticket is unknown, expired, revoked, used or malformed"
    remedy = "check the key; make a new one, or [rotate](keys.md#a-key) it"
    text = "The API key is invalid, expired or revoked"


class SessionEnded(InvalidToken):
    """The session with which a page opened a feed has ended; the page may connect again without it."""

    close_code = CloseCode.RIGHTS_CHANGED
    text = "The session of this user ended; connect again"


class KeyNotEnough(QuotecastError):
    """An API key opens no account: this route needs the token of a login."""

    status = 403
    code = "key_not_enough"
    close_code = CloseCode.NOT_ALLOWED
    cause = "the route needs a login, and an API key opens no account"
    remedy = "[log in](authentication.md), and send that token"
    text = "This route needs a user token; API keys cannot access accounts"


class OutOfScope(QuotecastError):
    """The scope of an API key excludes a request; the message names the bound."""

    status = 403
    close_code = CloseCode.NOT_ALLOWED
    code = "key_scope"
    cause = "the scope of the API key excludes the request"
    remedy = "ask for what the key is for, or change its [scope](keys.md#a-key)"


class OutOfPlan(QuotecastError):
    """The plan of a client excludes a request; `bound` is a predicate such as "has no bars"."""

    status = 403
    close_code = CloseCode.NOT_ALLOWED

    def __init__(self, plan: str, bound: str) -> None:
        super().__init__(f'Plan "{plan}" {bound}')


class FeedOutOfPlan(OutOfPlan):
    """The plan has no quotes of a feed."""

    code = "plan_feeds"
    cause = "the plan does not have this feed"
    remedy = "ask the operator for another plan"


class DoorOutOfPlan(OutOfPlan):
    """The plan has no data in this way, such as event streams or bars."""

    code = "plan_doors"
    cause = "the [plan](keys.md#a-plan) has no data in this way, such as bars or event streams"
    remedy = "use another way, or ask the operator for another plan"


class PastOutOfPlan(OutOfPlan):
    """The plan does not reach back so far."""

    code = "plan_history"
    cause = "the plan does not reach back so far"
    remedy = "begin later; the text names the days"


class LiveOutOfPlan(OutOfPlan):
    """The plan is delayed, and the request needs live quotes."""

    code = "plan_freshness"
    cause = "the plan is delayed, and the request needs live quotes"
    remedy = "ask the operator for another plan"


class SocketsInUse(OutOfPlan):
    """All sockets of the plan are open."""

    code = "plan_sockets"
    close_code = CloseCode.PLAN_FULL
    cause = "all sockets and event streams of the plan are open"
    remedy = "close one, or try again later"
