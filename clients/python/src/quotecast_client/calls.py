"""Requests as values: what a face sends, and how it reads the answer; no I/O."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")

#: Methods that a repetition does no harm to.
_IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE"})

#: Moments of queries: ISO 8601, or a datetime, which counts as UTC without a zone.
Moment = Union[str, date, datetime]


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request, whose answer has the type T."""

    method: str
    path: str
    query: dict[str, Any] = field(default_factory=dict)
    #: What is sent as JSON, or a text as CSV.
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    #: Seconds that the answer may take beyond the client's timeout: a long poll waits for an event.
    patience: float = 0.0

    @property
    def repeatable(self) -> bool:
        """Whether the client may send the request again if it does not know that it had an effect."""
        return self.method in _IDEMPOTENT or "Idempotency-Key" in self.headers

    def parameters(self) -> dict[str, str]:
        """Returns the query without what is not given."""
        return {name: _text(value) for name, value in self.query.items() if value is not None}

    def of_page(self, page: str) -> Call[T]:
        """Returns the same request for another page."""
        return replace(self, query={**self.query, "page": page})

    def after(self, symbol: str) -> Call[T]:
        """Returns the same request for the page of quotes after a symbol."""
        return replace(self, query={**self.query, "after": symbol})

    def content(self) -> dict[str, Any]:
        """Returns the body as arguments of httpx."""
        if self.body is None:
            return {}
        return {"content": self.body} if isinstance(self.body, str) else {"json": self.body}


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of an answer, and the `page` or `after` of the next one; None on the last page.

    `renamed` has what became of former symbols in the request.
    """

    data: T
    next: str | None
    renamed: Mapping[str, str]


def path(template: str, *values: str) -> str:
    """Returns a path with its values quoted, slashes too."""
    return template.format(*(quote(value, safe="") for value in values))


def repeatable(key: str | None) -> dict[str, str]:
    """Returns the header that makes a repeated POST safe, with a key of its own if none is given."""
    return {"Idempotency-Key": key or uuid.uuid4().hex}


def without_none(**fields: Any) -> dict[str, Any]:
    """Returns the fields of a body that are given."""
    return {name: value for name, value in fields.items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
        return zoned.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(str(each) for each in value)
    return str(value)
