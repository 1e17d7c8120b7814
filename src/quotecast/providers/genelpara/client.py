"""Reads GenelPara, within its limit of a thousand requests a day and address.

Source of the format: GenelPara, `json/?list=…`.
"""

import re
from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Raw, Struct

from quotecast.errors import UpstreamError
from quotecast.market.numbers import Number, positive, signed_decimal
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.transport.fetch import get_bytes, open_client
from quotecast.providers.turkey.dealing import DealerRate, RatesAnswer, instruments
from quotecast.providers.validation.rows import decode_rows, readable

#: The lists, each with our symbols of its codes where the two differ.
LISTS: Final[Mapping[str, Mapping[str, str]]] = {
    "doviz": {},
    "altin": {"GA": "gram-altin", "C": "ceyrek-altin", "GAG": "gumus"},
    "endeks": {},
}
_CURRENCY: Final = re.compile(r"[A-Z]{3}")


class GenelPara:
    """The lists at `url`."""

    name = "genelpara"
    #: Three requests each time: 864 a day.
    every_seconds = 300.0

    def __init__(self, url: str) -> None:
        self._url = url
        self._refused = RefusalCounter(self.name)

    async def read(self) -> RatesAnswer:
        """Returns the rates of all lists. Raises UpstreamError when a list fails, or all are empty."""
        async with open_client(self._url) as client:
            bodies = {
                name: await get_bytes(client, "/json/", params={"list": name, "sembol": "all"})
                for name in LISTS
            }
        try:
            found_rates = [rate for name, body in bodies.items() for rate in rates(body, name, self._refused)]
        except ValueError as error:
            raise UpstreamError(f"GenelPara: {error}") from error
        if not found_rates:
            raise UpstreamError("GenelPara: no rates")
        return RatesAnswer(found_rates)


class _ListRow(Struct, frozen=True):
    """A row of a list; numbers are text with a decimal dot."""

    alis: Number = None
    satis: Number = None
    oran: Number = None


class _ListAnswer(Struct, frozen=True):
    success: bool = False
    data: Mapping[str, Raw] = {}
    message: str = ""


def rates(body: bytes, name: str, refused: RefusalCounter) -> list[DealerRate]:
    """Returns the rates of the list of that name; skips and counts rows as the reader of Truncgil does.

    Raises ValueError for a failure, and for a malformed answer.
    """
    try:
        answer = msgspec.json.decode(body, type=_ListAnswer)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not answer.success:
        raise ValueError(f"failure: {answer.message[:200]}")
    found: list[DealerRate] = []
    for key, raw in answer.data.items():
        symbol = LISTS[name].get(key)
        if (name == "doviz" and _CURRENCY.fullmatch(key)) or (name == "endeks" and key in instruments()):
            symbol = symbol or key
        if symbol:
            rows = decode_rows([raw], _ListRow, refused)
            found += readable((_rate(symbol, row) for row in rows), refused)
    return found


def _rate(symbol: str, row: _ListRow) -> DealerRate | None:
    selling = positive(row.satis)
    if selling is None:
        return None
    return DealerRate(symbol, selling, positive(row.alis), signed_decimal(row.oran))
