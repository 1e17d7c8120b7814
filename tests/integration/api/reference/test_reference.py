"""The OpenAPI document names, describes and shows everything that people and generators of clients need."""

import ast
import re
from collections.abc import Iterator
from datetime import date, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import httpx
import pytest

from quotecast.asgi import code_of_status
from quotecast.market.instruments import CATEGORIES

VERBS = (
    "get",
    "list",
    "create",
    "update",
    "delete",
    "search",
    "stream",
    "export",
    "import",
    "test",
    "rotate",
)
#: Calls without a verb of a resource.
CALLS = {"register", "login"}

#: Codes in answers that no class of errors makes.
CODES = re.compile(r"""\"code":"(\w+)"|\bproblem\([^)]*code="(\w+)"|Problem\("[^"]+", "(\w+)\"""")
#: Statuses that are answered without a code.
STATUSES = re.compile(
    r"problem\(request, (\d+)\)|HTTPException\(status_code=(\d+)|refusal\(protocol, (\d+)|^    (\d+): \x22",
    re.MULTILINE,
)


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for operation in item.values():
            yield path, operation


def parameters(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for _, operation in operations(document):
        yield from operation.get("parameters", ())


def fields(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in document["components"]["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            yield f"{name}.{field}", described


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].rpartition("/")[2]
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def body_schemas(document: dict[str, Any]) -> set[str]:
    """Returns the schemas of request bodies, and those inside of them."""
    found: set[str] = set()
    new = {name for _, each in operations(document) for name in references(each.get("requestBody", {}))}
    while new:
        found |= new
        inner = {name for each in new for name in references(document["components"]["schemas"][each])}
        new = inner - found
    return found


async def test_operation_ids_read_as_calls(document: dict[str, Any]) -> None:
    """Ids are a verb and an object in camel case, and unique."""
    ids = [operation["operationId"] for _, operation in operations(document)]
    assert len(set(ids)) == len(ids)
    assert {"getQuotes", "listHoldings", "createAlert", "updateWatchlist"} <= set(ids)
    named = re.compile(f"({'|'.join(VERBS)})([A-Z][a-z]+)+")
    assert [each for each in ids if not named.fullmatch(each) and each not in CALLS] == []


async def test_schema_names_are_plain(document: dict[str, Any]) -> None:
    """No schema's name has the path of a module; every reference has its schema."""
    names = document["components"]["schemas"]
    assert [name for name in names if not re.fullmatch(r"[A-Z][A-Za-z]+", name)] == []
    assert set(references(document["paths"])) <= {*names, *document["components"]["headers"]}
    assert set(references(names)) <= set(names)


async def test_bodies_have_no_defaults(document: dict[str, Any]) -> None:
    """A default would make an optional field required in generated TypeScript."""
    bodies = body_schemas(document)
    assert {"NewHolding", "NewAlert", "NamedSymbol"} <= bodies
    given = [key for key, each in fields(document) if key.split(".")[0] in bodies and "default" in each]
    assert given == []
    assert document["components"]["schemas"]["NewAlert"]["required"] == ["ticker", "condition", "value"]


async def test_answers_always_have_fields_with_a_default(document: dict[str, Any]) -> None:
    schema = document["components"]["schemas"]["Asset"]
    assert set(schema["required"]) == set(schema["properties"])
    assert [key for key, each in fields(document) if "default" in each] == []


async def test_parameters_are_never_null(document: dict[str, Any]) -> None:
    """A client omits an optional parameter; a query cannot contain null."""
    wrong = [each for each in parameters(document) if "null" in str(each["schema"])]
    assert wrong == []


async def test_every_parameter_has_description_and_example(document: dict[str, Any]) -> None:
    for each in parameters(document):
        assert each.get("description"), each
        assert each["schema"].get("examples"), each


async def test_every_field_has_description_and_example(document: dict[str, Any]) -> None:
    """A field of objects has the examples of their fields."""
    for key, each in fields(document):
        assert each.get("description"), key
        assert "$ref" in str(each) or each.get("examples"), key


async def test_examples_have_the_format_that_their_schema_names(document: dict[str, Any]) -> None:
    parsers = {"date": date.fromisoformat, "date-time": datetime.fromisoformat}
    formats = set()
    schemas = [each for _, each in fields(document)] + [each["schema"] for each in parameters(document)]
    for schema in schemas:
        formats.add(schema.get("format"))
        if schema.get("format") in parsers and schema["examples"][0] is not None:
            parsers[schema["format"]](schema["examples"][0])
    assert formats == {None, "date", "date-time", "email", "uri"}


async def test_examples_are_among_the_values_of_their_enumeration(document: dict[str, Any]) -> None:
    schemas = [each for _, each in fields(document)] + [each["schema"] for each in parameters(document)]
    closed = [each for each in schemas if "enum" in each]
    assert [each for each in closed if each["examples"][0] not in each["enum"]] == []


async def test_categories_and_hours_are_enumerations(document: dict[str, Any]) -> None:
    described = dict(fields(document))
    assert described["DovizQuote.category"]["enum"] == [*CATEGORIES]
    assert described["EarningsEvent.hour"]["enum"] == ["bmo", "amc", "dmh", ""]


async def test_the_codes_of_errors_are_those_in_use(document: dict[str, Any]) -> None:
    """The enumeration has every code that the source can answer, and no other."""
    listed = dict(fields(document))["Problem.code"]["enum"]
    assert listed == sorted(set(listed))
    assert set(listed) == set(codes_in_use())
    assert set(codes_of_examples(document)) <= set(listed)


def codes_in_use() -> Iterator[str]:
    """Yields the codes that the source names, and those of statuses that it answers without a code."""
    classes: dict[str, dict[str, Any]] = {}
    for path, source in sources(files("quotecast")):
        classes |= classes_in(source)
        if path.startswith(("api/", "stream/", "mcp/")) and not path.startswith("api/reference/"):
            yield from (code for groups in CODES.findall(source) for code in filter(None, groups))
            for groups in STATUSES.findall(source):
                yield code_of_status(int("".join(groups)))
    for each in classes.values():
        if "code" in each and status_of(each, classes) not in {429, 500}:
            yield each["code"]


def classes_in(source: str) -> dict[str, dict[str, Any]]:
    """Returns the constants of the classes of a module, and their `bases`, by name."""
    return {
        each.name: {
            line.targets[0].id: line.value.value
            for line in each.body
            if isinstance(line, ast.Assign)
            and isinstance(line.targets[0], ast.Name)
            and isinstance(line.value, ast.Constant)
        }
        | {"bases": [base.id for base in each.bases if isinstance(base, ast.Name)]}
        for each in ast.walk(ast.parse(source))
        if isinstance(each, ast.ClassDef)
    }


def status_of(described: dict[str, Any], classes: dict[str, dict[str, Any]]) -> int:
    """Returns the status of a class or of its ancestors; 500 for a class that is no error of a client."""
    inherited = (status_of(classes[base], classes) for base in described["bases"] if base in classes)
    return int(described.get("status") or next(inherited, 500))


def sources(folder: Traversable, path: str = "") -> Iterator[tuple[str, str]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from sources(each, f"{path}{each.name}/")
        elif each.name.endswith(".py"):
            yield f"{path}{each.name}", each.read_text()


def codes_of_examples(document: dict[str, Any]) -> Iterator[str]:
    for _, operation in operations(document):
        for response in operation["responses"].values():
            for media in response.get("content", {}).values():
                for example in media["examples"].values():
                    if media["schema"] == {"$ref": "#/components/schemas/Problem"}:
                        yield example["value"].get("code", "invalid")


async def test_every_operation_has_samples(document: dict[str, Any]) -> None:
    """The sample in Python compiles, and each names the path of the operation."""
    for path, operation in operations(document):
        samples = {each["label"]: each["source"] for each in operation["x-codeSamples"]}
        assert list(samples) == ["curl", "Python", "TypeScript"]
        compile(samples["Python"], path, "exec")
        beginning = path.partition("{")[0]
        assert f"http://127.0.0.1:8000{beginning}" in samples["curl"]
        assert beginning in samples["Python"]
        assert path in samples["TypeScript"]
        # `{}` makes an API key optional.
        assert ("$TOKEN" in samples["curl"]) is ({} not in (operation["security"] or [{}]))


async def test_samples_of_quotes_work(client: httpx.AsyncClient, document: dict[str, Any]) -> None:
    """The address in a sample is answered with 200."""
    asked = 0
    for path, operation in operations(document):
        if re.search(r"/(quotes|search|heatmap|movers|symbols|status)", path):
            sample = operation["x-codeSamples"][0]["source"]
            address = re.findall(r"http://127\.0\.0\.1:8000([^' ]+)", sample)[0]
            assert (await client.get(address)).status_code == 200, address
            asked += 1
    assert asked >= 12


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/docs", "/api/docs"),
        ("/redoc", "/api/docs"),
        ("/swagger", "/api/docs"),
        ("/api", "/api/docs"),
        ("/api/", "/api/docs"),
        ("/openapi.json", "/api/openapi.json"),
        ("/asyncapi.json", "/api/asyncapi.json"),
        ("/api/llms.txt", "/llms.txt"),
    ],
)
async def test_usual_addresses_lead_to_the_documents(
    client: httpx.AsyncClient, method: str, path: str, meant: str
) -> None:
    """People and tools try those of other frameworks first."""
    answer = await client.request(method, path)
    assert (answer.status_code, answer.headers["location"]) == (307, meant)
    assert (await client.get(meant)).status_code == 200
