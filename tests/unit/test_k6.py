"""The k6 script has the users and the paths of the locust kit, and every path exists."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from quotecast.market.feeds import Feed
from support.made.factories import client_of, full_mirrors, services

FOLDER = Path(__file__).parents[2] / "loadtests"
SCRIPT = (FOLDER / "k6.js").read_text("utf-8")
#: Modules of users.
KIT = [
    ast.parse((FOLDER / f"{name}.py").read_text("utf-8"))
    for name in ("account", "feeds", "frontend", "replays")
]


def nameless(path: str) -> str:
    """Returns a path without its query and the names of its parameters."""
    return re.sub(r"\{\w*(:\w+)?\}", "{}", path.partition("?")[0])


def table(name: str) -> dict[str, str]:
    """Returns an object of the script: names and numbers, or names and texts."""
    body = re.search(rf"^const {name} = {{(.*?)}};", SCRIPT, re.DOTALL | re.MULTILINE)
    assert body
    return dict(re.findall(r"(\w+): \"?(\d+|[^\",]+)\"?(?:,|\s|$)", body[1]))


def routes() -> list[tuple[str, str]]:
    """Returns methods and paths of the script."""
    return [
        (method, nameless(path))
        for method, _, path in (each.partition(" ") for each in table("ROUTES").values())
    ]


def texts(module: ast.Module) -> Iterator[str]:
    """Yields the texts of a module; a value that is no constant of the module is `{}`."""
    constants = {
        target.id: node.value.value
        for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    parts = {id(part) for node in ast.walk(module) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(module):
        match node:
            case ast.JoinedStr():
                yield "".join(_part(part, constants) for part in node.values)
            case ast.Constant(value=str()) if id(node) not in parts:
                yield str(node.value)


def _part(part: ast.expr, constants: Mapping[str, object]) -> str:
    match part:
        case ast.Constant(value=value):
            return str(value)
        case ast.FormattedValue(value=ast.Name(id=name)) if name in constants:
            return str(constants[name])
    return "{}"


def test_the_users_have_the_shares_of_the_kit() -> None:
    """k6 cannot read event streams: its user polls."""
    weights = {
        node.name: str(statement.value.value)
        for module in [*KIT, ast.parse((FOLDER / "streams.py").read_text("utf-8"))]
        for node in module.body
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and ast.unparse(statement.targets[0]) == "weight"
    }
    weights["PollingReader"] = weights.pop("EventReader")
    assert table("USERS") == weights
    assert set(re.findall(r"^export function (\w+)\(", SCRIPT, re.MULTILINE)) == set(weights)


def test_the_paths_are_those_of_the_kit() -> None:
    found = {nameless(text) for module in KIT for text in texts(module) if re.match(r"/api/[^…]+$", text)}
    assert len(found) > 20
    assert {path for _, path in routes()} == found


async def test_every_path_exists() -> None:
    """Methods and paths are those of the OpenAPI document, and feeds those of the service."""
    async with client_of(services(full_mirrors())) as client:
        schema = (await client.get("/api/openapi.json")).json()
    known = {
        (method.upper(), nameless(path))
        for path, operations in schema["paths"].items()
        for method in operations
    }
    sockets = {"/api/ws", "/api/ws/{}", *(f"/api/ws/{feed.spec.name}" for feed in Feed)}
    assert set(routes()) <= known | {("WS", path) for path in sockets}


def test_every_route_is_used() -> None:
    assert [name for name in table("ROUTES") if f"ROUTES.{name}" not in SCRIPT] == []
