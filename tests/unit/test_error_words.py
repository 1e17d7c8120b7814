"""Messages of wrong fields and wrong commands are sentences that begin alike."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import quotecast

SOURCES: Final = Path(quotecast.__file__).parent
#: Calls with a message, and its place among their arguments.
CALLS: Final = {"InvalidValue": 1, "FieldProblem": 1, "BadUrl": 0, "CommandError": 0}
#: Servers of vendors say what the vendors say.
VENDORS: Final = SOURCES / "simulation"
#: What a message may begin with: a rule, what to do instead, or what is wrong.
BEGINNINGS: Final = (
    *("Must ", "Name ", "Write "),
    *("Is ", "There is ", "Missing", "Used for "),
    *("A replay is ", "Paging covers ", "Replays are ", "The first list cannot "),
    *("A message may ", "A command may ", "A connection may ", "Commands must ", "Messages must "),
    *("subscribe must ", "unsubscribe must ", "barsSince must ", "All symbols are "),
    *("Malformed ", "This service has ", "This API key is ", "The feed has "),
)


def messages() -> Iterator[tuple[str, str]]:
    """Yields the place and the beginning of each message that stands in a call."""
    for path in {*SOURCES.rglob("*.py")} - {*VENDORS.rglob("*.py")}:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            place = CALLS.get(node.func.id)
            if place is None or len(node.args) <= place:
                continue
            text = node.args[place]
            first = text.values[0] if isinstance(text, ast.JoinedStr) else text
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                # Messages of commands name the field themselves.
                yield f"{path.relative_to(SOURCES)}:{node.lineno}", re.sub(r"^\w+: ", "", first.value)


def test_messages_of_fields_begin_with_a_verb() -> None:
    found = [*messages()]
    assert len(found) > 60
    assert [each for each in found if not each[1].startswith(BEGINNINGS) or each[1].endswith(".")] == []
