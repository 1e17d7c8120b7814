"""Lists of symbols in requests, and the headers that name the unknown ones."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import quote

from litestar.exceptions import ValidationException
from litestar.openapi.spec import OpenAPIType, Schema

from quotecast.asgi import Header
from quotecast.errors import InvalidValue
from quotecast.feed.commands import names_of
from quotecast.feed.mirror import Mirror

MAX_SYMBOLS: Final = 500
#: Bytes of `X-Missing-Symbols`: 500 tickers of five letters fit. nginx takes 4 KB of headers by default.
MAX_HEADER_BYTES: Final = 3072
#: Bytes of `X-Renamed-Symbols`: few stocks and coins are renamed.
MAX_RENAMED_BYTES: Final = 512
#: Schema of a list of symbols, required or optional, in the documents: the framework sees a list of texts.
AS_TEXT: Final = {"type": OpenAPIType.STRING, "items": None}
AS_OPTIONAL_TEXT: Final = {
    "one_of": [Schema(type=OpenAPIType.STRING), Schema(type=OpenAPIType.NULL)],
}

#: Parsed lists to remember, and the characters of one: as many as the URL of a repeated read may have.
MAX_REMEMBERED: Final = 1024
MAX_REMEMBERED_LENGTH: Final = 512

Selection = tuple[str, ...] | Literal["all"]


def selection_of(symbols: Sequence[str], field: str = "symbols") -> Selection:
    """Returns the symbols of comma-separated lists: trimmed, in upper case, without repetitions, in order.

    `all`, in any case, selects everything only if it is the whole list: `ALL,AAPL` and `ALL,ALL` name a
    stock. Raises InvalidValue, which names `field`, for a list that is empty or longer than MAX_SYMBOLS.
    """
    text = ",".join(symbols)
    return _remembered(text, field) if len(text) <= MAX_REMEMBERED_LENGTH else _selection(text, field)


def require_symbols(symbols: Sequence[str] | None) -> Sequence[str]:
    """Returns the given lists; without one raises what the framework raises for a required parameter."""
    if symbols is None:
        raise ValidationException("symbols") from KeyError("symbols")
    return symbols


def _selection(text: str, field: str) -> Selection:
    names = names_of(text)
    if names == "all":
        return names
    distinct = tuple(dict.fromkeys(map(str.upper, names)))
    if not distinct:
        raise InvalidValue(field, "Name at least one symbol, or all")
    if len(distinct) > MAX_SYMBOLS:
        raise InvalidValue(field, f"Must name at most {MAX_SYMBOLS} symbols, or all")
    return distinct


_remembered: Final = lru_cache(MAX_REMEMBERED)(_selection)


def symbol_of_path(parameter: str) -> str:
    """Returns the symbol in a path: Litestar prefixes a parameter that may hold slashes with one."""
    return parameter.removeprefix("/")


def missing_headers(names: Sequence[str]) -> list[Header]:
    """Returns the headers that count unknown symbols and name as many as fit into MAX_HEADER_BYTES.

    Names are complete and in the given order; other characters than plain text are percent-encoded.
    """
    count = (b"x-missing-count", b"%d" % len(names))
    value = _cut(",".join(quote(name, safe="./") for name in names), MAX_HEADER_BYTES)
    return [count, (b"x-missing-symbols", value.encode())] if value else [count]


def renamed_headers(mirror: Mirror, named: Iterable[tuple[str, str | None]]) -> list[Header]:
    """Returns the header that says which keys former symbols mean; none without any among the names."""
    renamed = {name.strip().upper(): key for name, key in mirror.renamed(named).items()}
    value = _cut(",".join(f"{name}={key}" for name, key in renamed.items()), MAX_RENAMED_BYTES)
    return [(b"x-renamed-symbols", value.encode())] if value else []


def _cut(value: str, size: int) -> str:
    """Returns as many of the names in a header as fit."""
    return value if len(value) <= size else value[: size + 1].rpartition(",")[0]
