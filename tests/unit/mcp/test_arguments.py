"""Arguments of MCP tools: schemas with bounds, and errors that help a model to correct a call."""

from typing import Any

import pytest

from quotecast.api.bars.parameters import STOCK_INTERVALS
from quotecast.market.feeds import Feed
from quotecast.mcp.arguments import Arguments, Bars, News, Quotes, read_arguments, schema_of
from quotecast.mcp.asking import ToolRefused
from quotecast.mcp.tools import TOOLS, listed_tools


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_every_argument_has_a_description_and_bounds(tool: Any) -> None:
    """Texts have a length or a pattern, numbers and lists both ends."""
    schema = schema_of(tool.arguments)
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    for name, each in schema["properties"].items():
        assert each.get("description"), name
        for kind in each.get("anyOf", [each]):
            assert _is_bounded(kind), f"{name} has no bounds: {kind}"


def _is_bounded(kind: dict[str, Any]) -> bool:
    match kind.get("type"):
        case "string":
            return "maxLength" in kind or "pattern" in kind
        case "integer":
            return {"minimum", "maximum"} <= kind.keys()
        case "array":
            return "maxItems" in kind and _is_bounded(kind["items"])
        case "null":
            return True
        case _:
            return "enum" in kind


def test_a_call_with_the_least_arguments_has_the_defaults() -> None:
    assert read_arguments(Quotes, {"symbols": ["AAPL"]}) == Quotes(symbols=["AAPL"], feed="stocks")
    assert read_arguments(Bars, {"symbol": "AAPL"}).limit == 100


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"symbols": "AAPL"}, Quotes(symbols=["AAPL"])),
        ({"symbols": "AAPL, MSFT"}, Quotes(symbols=["AAPL", "MSFT"])),
        ({"symbols": '["AAPL", "MSFT"]'}, Quotes(symbols=["AAPL", "MSFT"])),
        ({"symbols": "BTC/USDT", "feed": "crypto"}, Quotes(symbols=["BTC/USDT"], feed="crypto")),
        ({"symbols": "AAPL", "feed": "market"}, Quotes(symbols=["AAPL"])),
        ({"symbol": "AAPL", "feed": "stock"}, Bars(symbol="AAPL")),
        ({"symbols": "AAPL", "limit": 3.0}, News(symbols=["AAPL"], limit=3)),
        ({"symbol": "AAPL", "limit": 3.0}, Bars(symbol="AAPL", limit=3)),
    ],
)
def test_arguments_in_the_types_that_models_write(given: dict[str, Any], read: Arguments) -> None:
    """Lists as text, and whole numbers with a point; a name with a comma is two names."""
    assert read_arguments(type(read), given) == read


def test_no_interval_is_offered_that_a_feed_refuses() -> None:
    offered = schema_of(Bars)["properties"]["interval"]["enum"]
    assert set(offered) <= set(STOCK_INTERVALS)


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        (Quotes, {}, "symbols: Must be given"),
        (Quotes, {"symbols": []}, "symbols: Must have at least 1 item"),
        (Quotes, {"symbols": ["A"] * 51}, "symbols: Must have at most 50 items"),
        (Quotes, {"symbols": ["A" * 33]}, "symbols[0]: Must have at most 32 characters"),
        (Quotes, {"symbol": "AAPL"}, "symbol: There is no such argument; there are: symbols, feed"),
        (Quotes, {"symbols": ["A"], "feed": "bonds"}, "feed: Must be one of stocks, crypto, doviz"),
        (Bars, {"symbol": "A", "limit": 201}, "limit: Must be at most 200"),
        (Quotes, {"symbols": "[nope"}, "symbols: Must be a list, not text"),
        (Quotes, {"symbols": ""}, "symbols[0]: Must have at least 1 character"),
        (Bars, {"symbol": "A", "limit": 3.5}, "limit: Must be a whole number, not a decimal number"),
        (Bars, {"symbol": "A", "limit": "9"}, "limit: Must be a whole number, not text"),
        (Quotes, {"symbols": ["\ud800"]}, "The arguments hold half of a character (a lone surrogate)"),
        (Arguments, {"feed": "stocks"}, "feed: There is no such argument; there are: none"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_right(
    kind: type[Arguments], given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ToolRefused) as refused:
        read_arguments(kind, given)
    assert (str(refused.value), refused.value.status) == (said, 422)


def test_account_tools_are_listed_with_a_token_only() -> None:
    account = {"portfolio", "watchlists", "watchlist"}
    assert {tool.name for tool in listed_tools(with_account=False)} == {*TOOLS} - account
    assert {tool.name for tool in listed_tools(with_account=True)} == {*TOOLS}


def test_tools_take_every_feed() -> None:
    assert {*schema_of(Quotes)["properties"]["feed"]["enum"]} == {*Feed}
