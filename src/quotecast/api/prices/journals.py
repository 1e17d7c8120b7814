"""Prices as directives of plain-text accounting: beancount's, and those of ledger and hledger."""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec

TEXT: Final = b"text/plain; charset=utf-8"

#: Characters that a commodity of beancount cannot have; it begins with a letter.
_OUTSIDE: Final = re.compile(r"[^A-Z0-9'._-]")
#: Ledger reads other names of commodities only in quotes.
_PLAIN: Final = re.compile(r"[A-Za-z]+")
#: Numbers stay the text of the JSON, so that no digit changes.
_decode: Final = msgspec.json.Decoder(float_hook=str).decode

Line = tuple[str, str, str, str]


def beancount(body: bytes) -> bytes:
    """Returns the `price` directives of the prices in a JSON body."""
    return _text(
        f"{day} price {_of_beancount(commodity)} {price} {_of_beancount(currency)}"
        for day, commodity, price, currency in _lines(body)
    )


def ledger(body: bytes) -> bytes:
    """Returns the `P` directives of the prices in a JSON body; hledger reads them, too."""
    return _text(
        f"P {day} {_of_ledger(commodity)} {price} {_of_ledger(currency)}"
        for day, commodity, price, currency in _lines(body)
    )


def _text(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _lines(body: bytes) -> Iterator[Line]:
    """Yields day, commodity, price and currency of each price of one symbol, of several, or of a history."""
    document: Mapping[str, Any] = _decode(body)
    # `symbol` is a text in a price; among prices by symbol it may be that of an instrument.
    rows: Iterable[Mapping[str, Any]] = (
        [document] if isinstance(document.get("symbol"), str) else document.values()
    )
    if isinstance(document.get("prices"), list):
        rows = ({**document, **row} for row in document["prices"])
    for row in rows:
        # The price of a pair is that of its base asset.
        commodity = row["symbol"].partition("/")[0]
        if row["price"] is not None and row["date"] and commodity != row["currency"]:
            yield row["date"], commodity, f"{Decimal(row['price']):f}", row["currency"]


def _of_beancount(name: str) -> str:
    commodity = _OUTSIDE.sub("-", name.upper())
    return commodity if commodity[0].isalpha() else f"X{commodity}"


def _of_ledger(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else f'"{name}"'
