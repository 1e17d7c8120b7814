"""The codes of errors that HTTP clients can receive."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Final

from quotecast.access.errors import OutOfPlan
from quotecast.errors import QuotecastError, TooManyRequests

#: Statuses of errors without a class: their code is the status in words.
_STATUSES: Final = (400, 403, 404, 405, 408, 500, 503, 505)


def error_codes() -> list[str]:
    """Returns all codes in alphabetical order. A 429 has none: its body has `detail` alone."""
    named = {kind.code for kind in _errors(QuotecastError) if kind.status != 500 and kind is not OutOfPlan}
    codes = named - {TooManyRequests.code} | {code_of_status(status) for status in _STATUSES}
    return sorted(codes)


def code_of_status(status: int) -> str:
    """Returns the code of an error that has only a status: its phrase in lower case."""
    return HTTPStatus(status).phrase.lower().replace(" ", "_")


def _errors(kind: type[QuotecastError]) -> Iterator[type[QuotecastError]]:
    for each in kind.__subclasses__():
        # Tests have errors of their own.
        if each.__module__.startswith("quotecast."):
            yield each
            yield from _errors(each)
