"""Results of tools: bounded rows, or one record."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from quotecast.mcp.asking import ToolAnswer, ToolRefused

#: The maximum number of rows in a result, and of bytes of its JSON: a model's context is small.
MAX_ROWS: Final = 200
MAX_BYTES: Final = 32 * 1024

Row = dict[str, Any]
State = Annotated[
    str | None,
    Meta(description="State of the feed: live, stale (last known values) or down; null where there is none"),
]


class TextTable(Struct, frozen=True, kw_only=True):
    """Rows of a result."""

    rows: Annotated[
        list[Row],
        Meta(description=f"At most {MAX_ROWS} rows and {MAX_BYTES // 1024} KB; see the tool's text"),
    ]
    total: Annotated[int, Meta(description="Number of rows before the bounds")]
    cut: Annotated[bool, Meta(description="Whether the service has more rows than `rows` holds")]
    missing: Annotated[list[str], Meta(description="Requested symbols that no feed has")] = []
    proposals: Annotated[dict[str, str], Meta(description="What some of `missing` may mean")] = {}
    state: State = None


class TextRecord(Struct, frozen=True, kw_only=True):
    """One record."""

    record: Annotated[Row, Meta(description="The record; see the tool's text for its fields")]


Result = TextTable | TextRecord


def table(
    rows: Iterable[Row],
    answer: ToolAnswer,
    *,
    most: int = MAX_ROWS,
    more: bool = False,
    missing: Sequence[str] = (),
) -> TextTable:
    """Returns the first `most` rows that fit into MAX_BYTES; `more` says that the service has others."""
    found = list(rows)
    fitting = _fitting(found[: min(most, MAX_ROWS)])
    return TextTable(
        rows=fitting,
        total=len(found),
        cut=more or len(fitting) < len(found),
        missing=[*missing],
        state=answer.headers.get("x-feed-state"),
    )


def record(found: Row) -> TextRecord:
    """Returns one record. Raises ToolRefused for one beyond MAX_BYTES."""
    if len(msgspec.json.encode(found)) > MAX_BYTES:
        raise ToolRefused(f"The record has more than {MAX_BYTES // 1024} KB; ask for a part of it", 413)
    return TextRecord(record=found)


def summary(result: Result) -> str:
    """Returns one line of text about a result."""
    if isinstance(result, TextRecord):
        return "One record."
    found = len(result.rows)
    text = f"{found} row{'' if found == 1 else 's'}"
    if found < result.total:
        text = f"{found} of {result.total} rows: narrow the request"
    elif result.cut:
        text = f"{text}, and there are more"
    parts = [text]
    if result.missing:
        proposals = {name: f" ({text})" for name, text in result.proposals.items()}
        named = [f"{name}{proposals.get(name, '')}" for name in result.missing]
        parts.append(f"unknown: {', '.join(named)}")
    if result.state not in {None, "live"}:
        parts.append(f"the feed is {result.state}: these are the last known values")
    return f"{'; '.join(parts)}."


def _fitting(rows: list[Row]) -> list[Row]:
    size = 0
    for index, row in enumerate(rows):
        size += len(msgspec.json.encode(row)) + 1
        if size > MAX_BYTES:
            return rows[:index]
    return rows
