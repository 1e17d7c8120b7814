"""Output of the commands: results on standard output; notes, and the logs of children, on standard error."""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec


def say(line: str) -> None:
    """Writes one line to standard output."""
    say_all([line])


def say_all(lines: Iterable[str]) -> None:
    """Writes lines to standard output."""
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


def note(line: str) -> None:
    """Writes one line to standard error."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def pass_on(part: str, line: str) -> None:
    """Writes one line of a child's output to standard error, after the child's name."""
    note(f"{part:<9} | {line}")


def json_lines(rows: Iterable[Any]) -> Iterator[str]:
    """Yields a JSON object for each row, in ASCII without characters that a terminal interprets."""
    for row in rows:
        # json.dumps escapes everything beyond ASCII, but not DEL.
        yield json.dumps(msgspec.to_builtins(row)).replace("\x7f", "\\u007f")
