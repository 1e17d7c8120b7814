"""Messages to clients are sentences: a rule ("Must …"), a remedy ("Name …"), or a clause with a verb."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Final

import quotecast

SOURCES: Final = Path(quotecast.__file__).parent
#: Servers of vendors say what the vendors say.
VENDORS: Final = SOURCES / "simulation"
#: Calls with a message that are no errors of a 4xx status, and its place among their arguments.
HELPERS: Final = {
    "BadUrl": 0,
    "CommandError": 0,
    "Complaint": 1,
    "FieldProblem": 1,
    "ToolRefused": 0,
    "_refusal": 1,
}
#: The place of the message in calls of errors that take something else too; None if they take no message.
PLACES: Final = {
    "Full": None,
    "InvalidValue": 1,
    "NotFound": None,
    "NotRecorded": 0,
    "OutOfPlan": 1,
    "WrongOperator": None,
}
#: Texts that the service's interface fixes word for word.
FIXED: Final = frozenset(
    {
        "Email already registered",
        "Internal Server Error",
        "Invalid email or password",
        "Invalid or expired token",
        "Invalid X",
        "Malformed JSON",
        "Not authenticated",
        "Payload Too Large",
        'Plan "X" X',
        "Request Timeout",
        "Symbol not found",
        "Too Many Requests",
        "X not found",
    }
)
#: Beginnings of a rule, of a remedy, or of a clause about the field or the plan that the message belongs to.
BEGINNINGS: Final = ("Must ", "Name ", "Sign in ", "Write ", "Is ", "Was ", "Works ", "has ", "includes ")
VERBS: Final = re.compile(
    r" (are|belongs|cannot|covers|does not \w+|ended|has|have|hold|is|may|must|needs|opens|records|took)\b"
)


class Module:
    """The literals of a module's messages, by the names of its functions and variables."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
        self._values: defaultdict[str, list[ast.expr]] = defaultdict(list)
        for node in self.nodes:
            match node:
                case ast.FunctionDef(name=name):
                    returns = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
                    self._values[name] += filter(None, returns)
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    self._values[name].append(value)

    def texts(self, node: ast.expr) -> Iterator[str]:
        """Yields the literals that an expression may have as its value; `X` stands for what they insert."""
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.JoinedStr(values=parts):
                yield "".join(str(each.value) if isinstance(each, ast.Constant) else "X" for each in parts)
            case ast.IfExp(body=first, orelse=second):
                yield from chain(self.texts(first), self.texts(second))
            case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)):
                yield from chain.from_iterable(map(self.texts, self._values[name]))

    def messages(self, places: Mapping[str, int | None]) -> Iterator[str]:
        """Yields the literals in calls of these names, and in the classes of these names."""
        for node in self.nodes:
            match node:
                case ast.Call(func=ast.Name(id=name), args=given) if name in places:
                    place = places[name]
                    for message in given[place : place + 1] if place is not None else ():
                        yield from self.texts(message)
                case ast.ClassDef(name=name, body=body) if name in places:
                    for each in chain.from_iterable(map(ast.walk, body)):
                        yield from self._own(each)

    def _own(self, node: ast.AST) -> Iterator[str]:
        """Yields the literals of a class's `text`, and those that its constructor hands on."""
        match node:
            case ast.Assign(targets=[ast.Name(id="text")], value=value):
                yield from self.texts(value)
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super"))), args=[*_, last]):
                yield from self.texts(last)


def modules() -> list[Module]:
    return [Module(path) for path in sorted({*SOURCES.rglob("*.py")} - {*VENDORS.rglob("*.py")})]


def client_errors(found: list[Module]) -> dict[str, int | None]:
    """Returns the place of the message in calls of each QuotecastError with a status of 4xx."""
    classes = {each.name: each for module in found for each in module.nodes if isinstance(each, ast.ClassDef)}

    def lineage(name: str) -> Iterator[str]:
        while name in classes:
            yield name
            bases = classes[name].bases
            name = bases[0].id if bases and isinstance(bases[0], ast.Name) else ""

    def status(name: str) -> int:
        for each in lineage(name):
            for line in classes[each].body:
                match line:
                    case ast.Assign(targets=[ast.Name(id="status")], value=ast.Constant(value=int(number))):
                        return number
        return 0

    return {
        name: next((PLACES[each] for each in lineage(name) if each in PLACES), 0)
        for name in classes
        if "QuotecastError" in lineage(name) and 400 <= status(name) < 500
    }


def is_sentence(text: str) -> bool:
    # Messages of commands name the field themselves.
    text = re.sub(r"^[\w.]+: ", "", text)
    begins = text[:1].isupper() and VERBS.search(text)
    return text in FIXED or bool((begins or text.startswith(BEGINNINGS)) and not text.endswith("."))


def test_messages_to_clients_are_sentences() -> None:
    found = modules()
    errors = client_errors(found)
    assert errors.keys() > {"InvalidValue", "KeyReused", "WrongOperator", "OutOfScope", "NotRecorded", "Full"}
    texts = {
        text: str(each.path.relative_to(SOURCES))
        for each in found
        for text in each.messages({**errors, **HELPERS})
        # Not what is empty, or made of other messages only.
        if re.search(r"[a-z]", text)
    }
    assert {"Must be given", "Must be UTF-8", "Some lines are wrong", "The password is wrong"} < texts.keys()
    assert {text: place for text, place in texts.items() if not is_sentence(text)} == {}
