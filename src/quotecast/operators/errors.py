"""Errors of the operator's page."""

from quotecast.errors import NotAuthenticated, QuotecastError, WrongCredentials


class WrongOperator(WrongCredentials):
    """No operator has this email, password and code; clients do not learn which is wrong.

    `reason` is for the log of operators' actions.
    """

    code = "wrong_operator"
    cause = "no operator has this email, password and code"
    remedy = "correct them; the answer does not say which"
    text = "Email, password or code is wrong"

    def __init__(self, reason: str = "") -> None:
        super().__init__()
        self.reason = reason


class OperatorSessionEnded(NotAuthenticated):
    """The operator's session is unknown, ended, idle for too long or of another secret."""

    code = "operator_session_ended"
    cause = "the token is not that of a lasting session of an [operator](admin.md)"
    remedy = "sign in at `/admin`"
    text = "Sign in as an operator"


class CrossSite(QuotecastError):
    """A page of another origin sent a request to the operator's interface."""

    status = 403
    code = "cross_site"
    cause = "a page of another origin sent a request to the operator's interface"
    remedy = "use the page `/admin` of this service"
    text = "Only this service's own page may send this"


class Unsealable(QuotecastError):
    """The secret that sealed a TOTP secret is no longer known: the operator needs a new one."""

    code = "unsealable"
    text = (
        "The secret of this operator's codes was sealed with another QUOTECAST_JWT_SECRET:"
        " run `quotecast operators add EMAIL --totp` again"
    )
