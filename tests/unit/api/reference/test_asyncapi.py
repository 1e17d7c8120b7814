"""The AsyncAPI document agrees with the frames and commands of the feeds."""

import inspect
import json
from typing import Any

import msgspec
import pytest
from msgspec.structs import fields

from quotecast.api.reference.asyncapi import asyncapi_document
from quotecast.close_codes import CloseCode
from quotecast.feed import frames
from quotecast.feed.commands import INTERVALS, Command, Query
from quotecast.market.feeds import Feed
from support.oracles.schemas import validator_of

DOCUMENT = asyncapi_document()
ACTIONS = ("subscribe", "unsubscribe", "list", "ping")
CHANNELS = [*(feed.spec.name for feed in Feed), "all"]

#: The tags of the frames that the module can build.
TAGS = sorted(
    {
        str(kind.__struct_config__.tag)
        for kind in vars(frames).values()
        if inspect.isclass(kind) and issubclass(kind, msgspec.Struct) and kind.__struct_config__.tag
    }
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
    assert {"welcome", "snapshot", "update", "heartbeat"} < set(TAGS)
    assert set(DOCUMENT["channels"][channel]["messages"]) == {*TAGS, *ACTIONS}


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("name", [*TAGS, *ACTIONS])
def test_examples_have_the_fields_of_their_schema(channel: str, name: str) -> None:
    """Examples fit their schema, which admits no field that it does not describe."""
    message = DOCUMENT["channels"][channel]["messages"][name]
    validator = validator_of(message["payload"], DOCUMENT["components"])
    assert message["examples"]
    for payload in [example["payload"] for example in message["examples"]]:
        validator.validate(payload)
        assert payload.get("type", payload.get("action")) == name


@pytest.mark.parametrize("channel", CHANNELS)
def test_examples_of_commands_are_understood(channel: str) -> None:
    """The session decodes the examples of all actions."""
    for action in ACTIONS:
        for example in DOCUMENT["channels"][channel]["messages"][action]["examples"]:
            assert msgspec.convert(example["payload"], Command).action == action


def test_actions_read_every_field_of_a_command() -> None:
    """Their schemas together have the fields of the struct."""
    schemas = DOCUMENT["components"]["schemas"]
    read = set().union(*(schemas[action.capitalize()]["properties"] for action in ACTIONS))
    assert read == set(schemas["Command"]["properties"])


def test_choices_are_enumerations() -> None:
    """States, hours, feeds, reasons, intervals and codes are closed sets."""
    schemas = DOCUMENT["components"]["schemas"]

    def values(name: str, field: str) -> set[object]:
        return set(schemas[name]["properties"][field]["enum"])

    assert values("Heartbeat", "feed") == values("FeedHeartbeat", "state") == {"live", "stale", "down"}
    assert values("Heartbeat", "market") == values("FeedHeartbeat", "market") == {"open", "closed"}
    assert values("MarketSnapshot", "reason") == {"subscribe", "resume", "resync"}
    assert values("Subscribed", "interval") == set(INTERVALS)
    assert values("Welcome", "feed") == {feed.spec.name for feed in Feed}
    assert values("Error", "code") == {400, 401, 403, 404, 422, 503}


def test_close_codes_say_whether_to_reconnect() -> None:
    codes = {each["code"]: each["reconnect"] for each in DOCUMENT["x-close-codes"]}
    assert set(codes) == set(CloseCode)
    assert (codes[1011], codes[1012], codes[4400], codes[4458]) == (True, True, False, True)


def test_servers_and_summaries() -> None:
    """Every message has a summary, and the document says where the service is."""
    assert {each["protocol"] for each in DOCUMENT["servers"].values()} == {"ws", "wss"}
    for channel in DOCUMENT["channels"].values():
        assert all(message["summary"] for message in channel["messages"].values())


@pytest.mark.parametrize("channel", CHANNELS)
def test_the_address_takes_what_the_session_reads(channel: str) -> None:
    query = DOCUMENT["channels"][channel]["bindings"]["ws"]["query"]
    names = {field.name for field in fields(Query)} - {"unknown", "meant"}
    lists = {feed.spec.name for feed in Feed} if channel == "all" else {"symbols"}
    replay = set() if channel == "all" else {"at", "speed"}
    assert set(query["properties"]) == names - {"symbols"} | lists | replay | {"heartbeat"}
    assert DOCUMENT["channels"][channel]["address"] == "/api/ws" + (f"/{channel}" if channel != "all" else "")


def test_every_reference_leads_somewhere() -> None:
    """Every reference has a target, and every schema a reference."""
    named = references(DOCUMENT)
    assert all(resolve(reference) for reference in named)
    prefix = "#/components/schemas/"
    used = {reference.removeprefix(prefix) for reference in named if reference.startswith(prefix)}
    # Generators of clients need one type for all commands; each message has that of its action.
    assert used | {"Command"} == set(DOCUMENT["components"]["schemas"])


def test_nothing_internal_is_named() -> None:
    """Titles and names are public ones, without a leading underscore."""
    text = json.dumps(DOCUMENT)
    assert '"_' not in text
    assert DOCUMENT["asyncapi"] == "3.0.0"


def test_a_cursor_is_not_the_point_of_the_welcome() -> None:
    """The document warns that the welcome's mark is not a cursor."""
    for channel in asyncapi_document()["channels"].values():
        since = channel["bindings"]["ws"]["query"]["properties"]["since"]["description"]
        assert "the last snapshot, update, bars or heartbeat" in since
        assert "never of the welcome" in since
