"""Rows for changes by commands in the log of operators' actions: with the change or not at all."""

import os
import pwd
from collections.abc import Awaitable, Callable
from typing import TypeVar

from quotecast.database.database import Run
from quotecast.operators.actions import Actor, record

T = TypeVar("T")


def shell_actor() -> Actor:
    """Returns the user of the machine who runs this process; the environment has no say in it."""
    number = os.getuid()
    try:
        name = pwd.getpwuid(number).pw_name
    except KeyError:
        # Containers often run with a number that has no name.
        name = str(number)
    return Actor("shell", name)


def recorded(
    action: str, work: Callable[[Run], Awaitable[T]], *, target: str = "", detail: str = ""
) -> Callable[[Run], Awaitable[T]]:
    """Returns the work with a row of the log in the same transaction."""

    async def both(run: Run) -> T:
        result = await work(run)
        await record(run, shell_actor(), action, target=target, detail=detail)
        return result

    return both
