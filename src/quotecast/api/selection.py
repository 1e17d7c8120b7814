"""Lists of symbols as clients write them, and the headers that name those which no feed knows."""

from collections.abc import Sequence
from typing import Final, Literal
from urllib.parse import quote

from litestar.openapi.spec import OpenAPIType, Schema

from quotecast.errors import InvalidValue
from quotecast.feed.commands import names_of

MAX_SYMBOLS: Final = 500
#: Bytes of `X-Missing-Symbols`: 500 tickers of five letters fit. nginx takes 4 KB of headers by default.
MAX_HEADER_BYTES: Final = 3072
#: How documents describe a list of symbols, required or not: the framework sees a list of texts.
AS_TEXT: Final = {"type": OpenAPIType.STRING, "items": None}
AS_OPTIONAL_TEXT: Final = {
    "one_of": [Schema(type=OpenAPIType.STRING), Schema(type=OpenAPIType.NULL)],
}

Selection = list[str] | Literal["all"]


def selection_of(symbols: Sequence[str]) -> Selection:
    """The symbols of comma-separated lists: trimmed, in upper case, each once, in their order.

    `all`, in any case, means everything only where nothing stands beside it: `ALL,AAPL` and `ALL,ALL` name
    a stock. Raises InvalidValue for a list that is empty or longer than MAX_SYMBOLS.
    """
    names = names_of(",".join(symbols))
    if names == "all":
        return names
    distinct = list(dict.fromkeys(map(str.upper, names)))
    if not distinct:
        raise InvalidValue("symbols", "Name at least one symbol, or all")
    if len(distinct) > MAX_SYMBOLS:
        raise InvalidValue("symbols", f"At most {MAX_SYMBOLS} symbols, or all")
    return distinct


def symbol_of_path(parameter: str) -> str:
    """The symbol in a path: a parameter that may hold slashes comes with one in front."""
    return parameter.removeprefix("/")


def missing_headers(names: Sequence[str]) -> list[tuple[bytes, bytes]]:
    """The headers that count unknown symbols and name them, as many as fit into MAX_HEADER_BYTES.

    Names are complete and in the order given; what is not plain text in them is percent-encoded.
    """
    count = (b"x-missing-count", b"%d" % len(names))
    value = ",".join(quote(name, safe="./") for name in names)
    if len(value) > MAX_HEADER_BYTES:
        value = value[: MAX_HEADER_BYTES + 1].rpartition(",")[0]
    return [count, (b"x-missing-symbols", value.encode())] if value else [count]
