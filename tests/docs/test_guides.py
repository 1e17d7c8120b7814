"""The guides to errors and limits agree with the code."""

import re
from typing import Any

from msgspec.structs import fields

from docs.pages import page
from quotecast.settings.model import Settings
from support.made.factories import client_of, full_mirrors, services


def rows(text: str, first: str) -> list[list[str]]:
    """Returns the rows of the tables whose first cell matches."""
    lines = [re.split(r"(?<!\\) ?\| ?", line.strip("| ")) for line in text.splitlines() if line[:1] == "|"]
    return [cells for cells in lines if re.fullmatch(first, cells[0])]


async def test_codes_have_the_statuses_that_the_examples_have() -> None:
    """The table agrees with every example of an error in the OpenAPI document."""
    stated = {cells[0].strip("`"): cells[1] for cells in rows(page("errors"), r"`\w+`")}
    async with client_of(services(full_mirrors())) as client:
        document: dict[str, Any] = (await client.get("/api/openapi.json")).json()
    shown = [
        (example["value"]["code"], status)
        for item in document["paths"].values()
        for operation in item.values()
        for status, response in operation["responses"].items()
        for media in response.get("content", {}).values()
        for example in media["examples"].values()
        if media["schema"].get("$ref", "").endswith("/Problem") and "code" in example["value"]
    ]
    assert len(set(shown)) > 15
    assert [each for each in shown if stated[each[0]] != each[1]] == []


def test_every_limit_has_its_row() -> None:
    """The table names each setting of a limit with its default, and each group of routes."""
    settings = {
        f"QUOTECAST_{field.name.upper()}": str(field.default)
        for field in fields(Settings)
        if field.name.startswith("limit_")
    }
    table = rows(page("limits"), r".*")
    stated = {cells[2].strip("`"): cells[1] for cells in table if cells[-1].startswith("`QUOTECAST_LIMIT_")}
    assert stated == settings
