"""Finnhub's answers one level deep: rows, an object of them, or nothing, which is written in several ways."""

from collections import Counter
from datetime import date
from typing import TypeVar

import msgspec
from msgspec import Raw

from quotecast.errors import UpstreamError
from quotecast.market.financials import EarningsEvent
from quotecast.providers.finnhub.wire import EventRow
from quotecast.providers.rows import readable
from quotecast.providers.values import Number, positive

Answer = dict[str, Raw] | list[Raw] | None

T = TypeVar("T")


def decoded(body: bytes | Raw) -> Answer:
    """What a path answers. Raises UpstreamError for what is neither list nor object."""
    try:
        answer: Answer = msgspec.json.decode(body, type=Answer)
    except (ValueError, RecursionError) as error:
        raise UpstreamError(f"Finnhub: unreadable: {error}") from error
    return answer


def member(answer: Answer, name: str) -> Answer:
    """A part of an answer; None of an empty one. Raises UpstreamError for any other that lacks it."""
    if not answer:
        return None
    if isinstance(answer, list) or name not in answer:
        raise UpstreamError(f"Finnhub: no {name} in the answer")
    return decoded(answer[name])


def rows(answer: Answer, kind: type[T], refused: Counter[str]) -> list[T]:
    """The rows of a list; none where it is empty, or an empty object.

    Raises UpstreamError for an object that is not empty, and when not a single row can be read.
    """
    if isinstance(answer, dict) and answer:
        raise UpstreamError("Finnhub: an object where a list should be")
    listed = answer if isinstance(answer, list) else []
    found = readable(listed, kind, refused)
    if listed and not found:
        raise UpstreamError("Finnhub: no row can be read")
    return found


def events(answer: Answer, first: date, last: date, refused: Counter[str]) -> list[EarningsEvent]:
    """What `/calendar/earnings` answers, by date; rows of other days are counted as `out of range`."""
    found = []
    for row in rows(member(answer, "earningsCalendar"), EventRow, refused):
        event = row.to_record(refused)
        if event is None:
            refused["unreadable"] += 1
        elif not first <= row.date <= last:
            refused["out of range"] += 1
        else:
            found.append(event)
    return sorted(found, key=lambda event: (event.date, event.symbol))


def is_priced(answer: Answer) -> bool:
    """Whether `/quote` has a price: that of a symbol which it does not know is zero."""
    if not isinstance(answer, dict):
        return False
    try:
        return positive(msgspec.json.decode(answer.get("c", b"null"), type=Number)) is not None
    except ValueError as error:
        raise UpstreamError(f"Finnhub: unreadable price: {error}") from error
