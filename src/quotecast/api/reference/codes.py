"""The codes of errors that HTTP clients can receive."""

from collections.abc import Iterator
from typing import Final

from quotecast.access.errors import OutOfPlan
from quotecast.asgi import code_of_status
from quotecast.errors import QuotecastError, TooManyRequests

#: Statuses of errors without a class: their code is the status in words.
_STATUSES: Final = (400, 403, 404, 405, 408, 413, 414, 421, 431, 500, 503, 505)


def error_codes() -> list[str]:
    """Returns all codes in alphabetical order. A 429 has none: its body has `detail` alone."""
    named = {kind.code for kind in _errors(QuotecastError) if kind.status != 500 and kind is not OutOfPlan}
    codes = named - {TooManyRequests.code} | {code_of_status(status) for status in _STATUSES}
    return sorted(codes)


def _errors(kind: type[QuotecastError]) -> Iterator[type[QuotecastError]]:
    for each in kind.__subclasses__():
        # Tests have errors of their own.
        if each.__module__.startswith("quotecast."):
            yield each
            yield from _errors(each)
