"""Items of frames: objects, or rows in the order of columns."""

from __future__ import annotations

from typing import Any


def items_of(frame: dict[str, Any], columns: list[str]) -> list[dict[str, Any]]:
    """Returns a frame's items; a row may be shorter than the columns."""
    data: list[Any] = frame["data"]
    return [dict(zip(columns, item)) if isinstance(item, list) else item for item in data]
