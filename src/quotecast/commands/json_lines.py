"""Rows of the commands as JSON, for scripts."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec


def json_lines(rows: Iterable[Any]) -> Iterator[str]:
    """Yields a JSON object for each row, in ASCII without characters that a terminal interprets."""
    for row in rows:
        # json.dumps escapes everything beyond ASCII, but not DEL.
        yield json.dumps(msgspec.to_builtins(row)).replace("\x7f", "\\u007f")
