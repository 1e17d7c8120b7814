"""The recipes of docs/prices.md: each tool's request and its reading of the answer.

How a tool asks and reads is in its public source: Ghostfolio's manual service, the generic JSON feed of
Portfolio Performance, Home Assistant's REST sensor and beancount's grammar. Wealthfolio says it in the
guide to its custom providers.
"""

import csv
import io
import json
import re
from collections.abc import AsyncIterator
from datetime import date
from typing import Any

import httpx
import pytest_asyncio
import yaml  # type: ignore[import-untyped]  # it has no types

from docs.pages import blocks, page
from quotecast.market.feeds import Feed
from support.made.factories import client_of, doviz, mirror_of, services
from support.made.market import pair, stock
from support.stages.bar_service import Stored, write_closes

PAGE = page("prices")
DAYS = {"2026-11-16": 200.0, "2026-11-17": 210.0, "2026-11-18": 205.5}


@pytest_asyncio.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    stored = Stored()
    for symbol, feed in (("AAPL", Feed.STOCKS), ("BTC/USDT", Feed.CRYPTO)):
        write_closes(stored, feed, symbol, DAYS)
    mirrors = {
        Feed.STOCKS: mirror_of(Feed.STOCKS, [stock("AAPL", 300.0)]),
        Feed.CRYPTO: mirror_of(Feed.CRYPTO, [pair("BTC/USDT", 90_000.0)]),
        Feed.DOVIZ: mirror_of(Feed.DOVIZ, [doviz("gram-altin", "gold"), doviz("22-ayar-bilezik", "gold")]),
    }
    async with client_of(services(mirrors, stored_bars=stored)) as client:
        yield client


def rows(heading: str) -> dict[str, list[str]]:
    """Returns the cells of the table under a heading, by their first cell."""
    section = PAGE.partition(f"### {heading}\n")[2].partition("\n### ")[0]
    cells = [
        [each.strip(" `") for each in line.strip("|").split("|")]
        for line in section.splitlines()
        if line[:1] == "|"
    ]
    return {first: rest for first, *rest in cells}


def select(path: str, document: Any) -> list[Any]:
    """Returns what a JSONPath of names and `[*]` selects."""
    found = [document]
    assert path.startswith("$")
    for name in re.findall(r"\.(\w+)|\[(\*)\]", path):
        found = (
            [each for value in found for each in value] if name[1] else [value[name[0]] for value in found]
        )
    return found


async def fetch(client: httpx.AsyncClient, address: str) -> httpx.Response:
    """Requests an address of the page, without its currency: the market of this test has no rates."""
    path = re.sub(r"^https?://[^/]+", "", address)
    response = await client.get(re.sub(r"currency=[A-Z]+&?", "", path).rstrip("?&"))
    assert response.status_code == 200, response.text
    return response


async def test_ghostfolio_reads_the_price(client: httpx.AsyncClient) -> None:
    """Its JSONPath applies to this content type alone, and the first match counts."""
    recipe = json.loads(blocks(PAGE, "json")[0])
    response = await fetch(client, recipe["url"])
    assert response.headers["content-type"] == "application/json"
    assert float(str(select(recipe["selector"], response.json())[0])) == 42.0


async def test_wealthfolio_reads_the_latest_price_and_the_history(client: httpx.AsyncClient) -> None:
    """It fills in the symbol, the currency and the days, and pairs the lists of prices and dates."""
    recipe = rows("Wealthfolio")
    given = {"SYMBOL": "BTC-USDT", "CURRENCY": "USD", "FROM": "2026-11-16", "TO": "2026-11-18"}
    addresses = [re.sub(r"\{(\w+)\}", lambda name: given[name[1]], url) for url in recipe["URL"]]
    latest, history = [(await fetch(client, each)).json() for each in addresses]
    assert select(recipe["Price path"][0], latest) == [90_000.0]
    assert select(recipe["Date path"][0], latest) == ["2026-11-20"]
    assert select(recipe["Currency path"][0], latest) == ["USDT"]
    prices, days = (select(recipe[name][1], history) for name in ("Price path", "Date path"))
    assert dict(zip(days, prices, strict=True)) == DAYS
    assert select(recipe["Currency path"][1], history) == ["USDT"]


async def test_portfolio_performance_reads_the_history(client: httpx.AsyncClient) -> None:
    """It needs as many dates as closes, dates in ISO 8601, and skips closes that are no numbers."""
    recipe = rows("Portfolio Performance")
    address = recipe["Feed URL"][0].replace("{TICKER}", "AAPL").replace("{CURRENCY}", "USD")
    document = (await fetch(client, address)).json()
    days = [date.fromisoformat(each) for each in select(recipe["Path to Date"][0], document)]
    closes = select(recipe["Path to Close"][0], document)
    assert dict(zip(map(str, days), closes, strict=True)) == DAYS


async def test_home_assistant_reads_value_and_attributes(client: httpx.AsyncClient) -> None:
    """The template takes a field of the document; the attributes are fields of its top."""
    (sensor,) = yaml.safe_load(blocks(PAGE, "yaml")[0])["sensor"]
    document = (await fetch(client, sensor["resource"])).json()
    template = re.fullmatch(r"\{\{ value_json\.(\w+) \}\}", sensor["value_template"])
    assert template is not None
    assert document[template[1]] == 42.0
    assert {name: document[name] for name in sensor["json_attributes"]} == {
        "date": "2026-11-20",
        "status": "live",
    }


async def test_sheets_read_the_cell_of_the_price(client: httpx.AsyncClient) -> None:
    """INDEX counts rows and columns from one, the header included."""
    found = re.findall(r'=INDEX\(IMPORTDATA\("([^"]+)"\), (\d+), (\d+)\)', PAGE)
    assert len(found) == 2
    address, row, column = found[0]
    table = [*csv.reader(io.StringIO((await fetch(client, address)).text))]
    assert (table[0][int(column) - 1], table[int(row) - 1][int(column) - 1]) == ("price", "300.0")


async def test_directives_fit_the_grammars_of_plain_text_accounting(client: httpx.AsyncClient) -> None:
    """beancount: a date, a commodity of capitals, a number, a currency. ledger: `P`, and quoted names."""
    query = "/api/prices?symbols=AAPL,BTC-USDT,gram-altin,22-ayar-bilezik&format="
    commodity = r"[A-Z][A-Z0-9'._-]{0,22}[A-Z0-9]"
    directive = re.compile(rf"\d{{4}}-\d\d-\d\d price {commodity} \d+(\.\d+)? {commodity}")
    lines = (await fetch(client, f"{query}beancount")).text.splitlines()
    assert [each.split()[2] for each in lines] == ["AAPL", "BTC", "GRAM-ALTIN", "X22-AYAR-BILEZIK"]
    assert all(map(directive.fullmatch, lines))
    name = r'([A-Za-z]+|"[^";\n]+")'
    lines = (await fetch(client, f"{query}ledger")).text.splitlines()
    assert len(lines) == 4
    assert all(re.fullmatch(rf"P \d{{4}}-\d\d-\d\d {name} \d+(\.\d+)? {name}", line) for line in lines)
