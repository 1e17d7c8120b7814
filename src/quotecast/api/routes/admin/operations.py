"""The common part of the documents of operators' routes: their security, and the statuses of refusals."""

from collections.abc import Mapping
from typing import Any, Final

from litestar.openapi import ResponseSpec
from litestar.openapi.spec import SecurityScheme

from quotecast.api.reference.account_operations import none_left, outcomes
from quotecast.api.reference.openapi import ID, refused
from quotecast.errors import Problem

#: The security requirement of operators' routes.
OPERATOR: Final = [{"operator": list[str]()}]
SCHEME: Final = SecurityScheme(
    type="http", scheme="bearer", bearer_format="JWT", description="The `token` of an operator's login."
)

_REFUSED: Final = {
    401: refused(
        "The token is missing, of another purpose, or of a session that ended",
        Problem("Sign in as an operator", "operator_session_ended", ID),
    ),
    403: refused(
        "A page of another origin sent the request",
        Problem("Only this service's own page may send this", "cross_site", ID),
    ),
}


def operator_outcomes(
    kind: Any,
    example: Any,
    description: str,
    *errors: int,
    body: bool = False,
    others: Mapping[int, ResponseSpec] | None = None,
) -> dict[int, ResponseSpec]:
    """Returns the responses of an operator's route: success, its refusals, and `others`."""
    more = {**_REFUSED, **(others or {})}
    return outcomes(200, kind, example, description, *errors, body=body, others=more)


def operator_done(
    description: str, *errors: int, others: Mapping[int, ResponseSpec] | None = None
) -> dict[int, ResponseSpec]:
    """Returns the responses of an operator's action without an answer."""
    return none_left(description, *errors, others={**_REFUSED, **(others or {})})
