"""Lists of symbols as clients write them, and how they are told which of them nobody knows."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from quotecast.errors import InvalidValue
from quotecast.market.instruments import MAX_SYMBOL_LENGTH

MAX_SYMBOLS: Final = 500
ALL: Final = "ALL"

_MAX_HEADER_LENGTH: Final = 1024


def named(symbols: str) -> list[str]:
    """The symbols of a comma-separated list: trimmed, in upper case, each once, in their order.

    Raises InvalidValue for a list that is empty or longer than MAX_SYMBOLS.
    """
    names = map(str.strip, symbols.upper().split(","))
    distinct = [name for name in dict.fromkeys(names) if name]
    if not distinct:
        raise InvalidValue("symbols", "Name at least one symbol, or all")
    if len(distinct) > MAX_SYMBOLS:
        raise InvalidValue("symbols", f"At most {MAX_SYMBOLS} symbols, or all")
    return distinct


def missing_header(names: Iterable[str]) -> tuple[bytes, bytes]:
    """The header that names unknown symbols; what is not plain text is percent-encoded.

    It ends with `...` when it would grow too long for the proxies on the way.
    """
    value = ",".join(quote(name[:MAX_SYMBOL_LENGTH], safe="./") for name in names)
    if len(value) > _MAX_HEADER_LENGTH:
        value = value[: value.rindex(",", 0, _MAX_HEADER_LENGTH)] + ",..."
    return b"x-missing-symbols", value.encode()
