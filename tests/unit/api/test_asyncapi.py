"""The AsyncAPI document agrees with the frames and commands of the feeds."""

import inspect
import json
from typing import Any

import msgspec
import pytest
from msgspec.structs import fields

from quotecast.api.reference.asyncapi import asyncapi_document
from quotecast.feed import frames
from quotecast.feed.commands import Command, Query
from quotecast.market.feeds import Feed

DOCUMENT = asyncapi_document()
CHANNELS = [feed.spec.name for feed in Feed]

#: The public functions of the module that return a frame.
MAKERS = sorted(
    name
    for name, value in vars(frames).items()
    if inspect.isfunction(value)
    and not name.startswith("_")
    and value.__annotations__["return"] is msgspec.Struct
)


def resolve(reference: str) -> Any:
    found: Any = DOCUMENT
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if "$ref" in value else []
        return own + [each for inner in value.values() for each in references(inner)]
    return [each for inner in value for each in references(inner)] if isinstance(value, list) else []


@pytest.mark.parametrize("channel", CHANNELS)
def test_every_frame_is_described(channel: str) -> None:
    """The document describes every frame that the module can build."""
    assert {"welcome", "snapshot", "update", "heartbeat"} < set(MAKERS)
    assert set(DOCUMENT["channels"][channel]["messages"]) == {*MAKERS, "command"}


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("name", [*MAKERS, "command"])
def test_examples_have_the_fields_of_their_schema(channel: str, name: str) -> None:
    """Examples have all required fields, no unknown one, and the constant type."""
    message = DOCUMENT["channels"][channel]["messages"][name]
    schema = resolve(message["payload"]["$ref"])
    for payload in [example["payload"] for example in message["examples"]]:
        assert set(schema["required"]) <= set(payload) <= set(schema["properties"])
        if name != "command":
            kind = schema["properties"]["type"]
            assert payload["type"] == name
            assert name in (kind.get("const"), *kind.get("enum", ()))


@pytest.mark.parametrize("channel", CHANNELS)
def test_examples_of_commands_are_understood(channel: str) -> None:
    """The session decodes the examples of all actions."""
    examples = DOCUMENT["channels"][channel]["messages"]["command"]["examples"]
    commands = [msgspec.convert(example["payload"], Command) for example in examples]
    assert {command.action for command in commands} == {"subscribe", "unsubscribe", "list", "ping"}


@pytest.mark.parametrize("channel", CHANNELS)
def test_the_address_takes_what_the_session_reads(channel: str) -> None:
    query = DOCUMENT["channels"][channel]["bindings"]["ws"]["query"]
    assert set(query["properties"]) == {field.name for field in fields(Query)}
    assert DOCUMENT["channels"][channel]["address"] == f"/api/ws/{channel}"


def test_every_reference_leads_somewhere() -> None:
    """Every reference has a target, and every schema a reference."""
    named = references(DOCUMENT)
    assert all(resolve(reference) for reference in named)
    prefix = "#/components/schemas/"
    used = {reference.removeprefix(prefix) for reference in named if reference.startswith(prefix)}
    assert used == set(DOCUMENT["components"]["schemas"])


def test_nothing_internal_is_named() -> None:
    """Titles and names are public ones, without a leading underscore."""
    text = json.dumps(DOCUMENT)
    assert '"_' not in text
    assert DOCUMENT["asyncapi"] == "3.0.0"


def test_a_cursor_is_not_the_point_of_the_welcome() -> None:
    """The document warns that the welcome's mark is not a cursor."""
    for channel in asyncapi_document()["channels"].values():
        since = channel["bindings"]["ws"]["query"]["properties"]["since"]["description"]
        assert "the last snapshot, update or heartbeat" in since
        assert "never of the welcome" in since
