"""OpenAPI descriptions of account routes: token, body, statuses and headers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from litestar.openapi import ResponseSpec
from litestar.openapi.spec import (
    Example,
    OpenAPIMediaType,
    OpenAPIResponse,
    OpenAPIType,
    Operation,
    Parameter,
    Reference,
    RequestBody,
    Schema,
)
from msgspec import Struct

from quotecast.api.answers.answers import JSON, Answer, SharedBody
from quotecast.api.reference.openapi import ID, LIMITED, add_formats, described, refused
from quotecast.asgi import Header
from quotecast.errors import FieldProblem, Problem
from quotecast.market import codec

#: The security requirement of operations for users.
SECURED: Final = [{"bearer": list[str]()}]

_ERRORS: Final = {
    400: refused("The body is not JSON", Problem("Malformed JSON", "malformed_json", ID)),
    401: refused(
        "The token is missing, expired, revoked or foreign",
        Problem("Not authenticated", "not_authenticated", ID),
        Problem("Invalid or expired token", "invalid_token", ID),
    ),
    403: refused(
        "An API key is given in place of a token",
        Problem("This route needs a user token; API keys cannot access accounts", "key_not_enough", ID),
    ),
    408: refused("The body did not arrive in time", Problem("Request Timeout", "request_timeout", ID)),
    413: refused("The body is too large", Problem("Payload Too Large", "too_large", ID)),
    422: refused(
        "A value is out of bounds",
        Problem("Invalid name", "invalid", ID, [FieldProblem("name", "Must have at most 100 characters")]),
    ),
    429: refused("The rate limit of this client and path is exhausted", Problem("Too Many Requests")),
    503: refused(
        "Accounts are unavailable; a write may or may not have taken effect",
        Problem("Account data is temporarily unavailable", "database", ID),
    ),
}
_OF_ALL: Final = (401, 403, 429, 503)
_OF_BODIES: Final = (400, 408, 413, 422)


@dataclass
class AccountOperation(Operation):
    """An operation on a user's own data; no cache stores its answers."""

    def __post_init__(self) -> None:
        """Adds headers to the framework's responses."""
        self.security = self.security or []
        responses = cast("dict[str, OpenAPIResponse]", self.responses or {})
        add_formats(self, responses)
        if self.request_body is None:
            # The framework documents a 400 for bad parameters; this API answers 422.
            responses.pop("400", None)
        for status, response in responses.items():
            names = ["X-Request-ID", "Cache-Control", *LIMITED, *self._headers_of(status)]
            response.headers = {name: Reference(f"#/components/headers/{name}") for name in names}

    def _headers_of(self, status: str) -> Sequence[str]:
        return _HEADERS.get(status, ())


@dataclass
class QuotedOperation(AccountOperation):
    """An operation whose answer may include quotes, and then names the state of their feeds."""

    def _headers_of(self, status: str) -> Sequence[str]:
        return ["X-Feed-State"] if status == "200" else super()._headers_of(status)


_HEADERS: Final = {
    "401": ["WWW-Authenticate"],
    "429": ["Retry-After"],
    "503": ["Retry-After"],
}


def taking(
    body: type[Struct], example: Mapping[str, Any], *, headers: Sequence[Parameter] = ()
) -> type[AccountOperation]:
    """Returns the operation class of requests with a body of this type, and perhaps with headers."""
    media = OpenAPIMediaType(
        schema=Reference(f"#/components/schemas/{body.__name__}"),
        examples={"example": Example(value=dict(example))},
    )

    @dataclass
    class Taking(AccountOperation):
        def __post_init__(self) -> None:
            self.request_body = RequestBody({"application/json": media}, required=True)
            self.parameters = [*(self.parameters or []), *headers]
            super().__post_init__()

    return Taking


def outcomes(
    status: int,
    kind: Any,
    example: Any,
    description: str,
    *errors: int,
    body: bool = False,
    others: Mapping[int, ResponseSpec] | None = None,
) -> dict[int, ResponseSpec]:
    """Returns the responses of an account route: success, the errors of every account route, and `others`."""
    expected = sorted({*_OF_ALL, *errors, *(_OF_BODIES if body else ())})
    good = described(kind, example, description)
    return {status: good, **{each: _ERRORS[each] for each in expected}, **(others or {})}


def none_left(description: str, *errors: int, others: Mapping[int, ResponseSpec]) -> dict[int, ResponseSpec]:
    """Returns the responses of a route that removes something."""
    gone = ResponseSpec(data_container=None, description=description)
    return {204: gone, **{each: _ERRORS[each] for each in sorted({*_OF_ALL, *errors})}, **others}


def not_found(what: str) -> ResponseSpec:
    """Returns the 404 of a missing thing, or of another user's."""
    return refused("It does not exist, or is not yours", Problem(f"{what} not found", "not_found", ID))


def replayable() -> list[Parameter]:
    """Returns the header that makes a retry safe."""
    return [
        Parameter(
            name="Idempotency-Key",
            param_in="header",
            required=False,
            description="Must have 1 to 255 visible ASCII characters that identify this request for 24 hours",
            schema=Schema(type=OpenAPIType.STRING, min_length=1, max_length=255),
        )
    ]


def answer(value: Any, status: int = 200, *more: Header) -> Answer:
    """Returns a JSON answer for one client, perhaps with more headers; the middleware adds `no-store`.

    Compression is safe: the answer contains no secret that an attacker could guess by length (BREACH).
    """
    headers = [(b"content-type", JSON), *more]
    return Answer(SharedBody(codec.encode_json(value)), headers, tag=None, status=status)


def secret_answer(value: Any, status: int = 200, *more: Header) -> Answer:
    """Returns a JSON answer that has a token beside the client's own text: never compressed (BREACH)."""
    return Answer(codec.encode_json(value), [(b"content-type", JSON), *more], tag=None, status=status)
