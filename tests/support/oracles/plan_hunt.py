"""Requests of every GET route, for hunts of what a plan hides."""

from collections.abc import Iterator
from typing import Any, Final

from quotecast.market.feeds import Feed
from support.stages.account_service import AccountService, User

SYMBOLS: Final = {Feed.STOCKS: "PSN", Feed.CRYPTO: "PSN/USDT", Feed.DOVIZ: "zehir-altin"}
#: Values of parameters that the document's examples do not poison.
GIVEN: Final = {
    "symbols": ",".join(SYMBOLS.values()),
    "q": "psn",
    "query": "psn",
    "include": "quote",
    "resolution": "5",
    "countback": "100",
}


def requests(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the path and the query of each GET route, for each instrument that might be in its path."""
    for path, operations in document["paths"].items():
        if "get" not in operations:
            continue
        parameters = operations["get"].get("parameters", [])
        examples = {each["name"]: each["schema"]["examples"][0] for each in parameters if each["required"]}
        query = {
            each["name"]: GIVEN.get(each["name"]) or str(examples[each["name"]])
            for each in parameters
            if each["in"] == "query" and each["name"] in GIVEN | examples
        }
        names = [each["name"] for each in parameters if each["in"] == "path"]
        for symbol in SYMBOLS.values():
            filled = path
            for name in names:
                filled = filled.replace(f"{{{name}}}", symbol.replace("/", "-"))
            wanted = {"symbol": symbol} if any(each["name"] == "symbol" for each in parameters) else {}
            yield filled, query | wanted
            yield filled, query | wanted | {"symbols": "all"} if "symbols" in query else query | wanted
            if any(each["name"] == "format" for each in parameters):
                yield filled, query | wanted | {"format": "csv"}
            if not names and not wanted:
                break


async def prepare(service: AccountService) -> User:
    """Returns a user with a holding and a watchlist of each poisoned instrument."""
    user = await service.register()
    for kind, symbol in (("stock", "PSN"), ("crypto", "PSN/USDT"), ("doviz", "zehir-altin")):
        holding = {"ticker": symbol, "shares": 1, "avg_cost": 1, "currency": "USD", "type": kind}
        await user.post("/api/portfolio/holdings", holding)
        await user.post("/api/watchlist", {"ticker": symbol, "type": kind})
    return user
