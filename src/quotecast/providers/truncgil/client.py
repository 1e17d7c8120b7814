"""Reads Truncgil, from the first of its versions that answers.

Source of the format: Truncgil Finans, `v3/today.json`, `v4/today.json` and `api/today.json` (version 5).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec import Raw, Struct

from quotecast.errors import UpstreamCutShort, UpstreamError
from quotecast.market.numbers import Number, instant, positive, signed_decimal
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.transport.fetch import get_bytes, open_client
from quotecast.providers.turkey.dealing import DealerRate, RatesAnswer, instruments
from quotecast.providers.validation.rows import decode_each, readable

#: Our symbols of Truncgil's codes since version 4, where the two differ; version 3 has our symbols.
CODES: Final = {
    "GRA": "gram-altin",
    "HAS": "gram-has-altin",
    "CEYREKALTIN": "ceyrek-altin",
    "YARIMALTIN": "yarim-altin",
    "TAMALTIN": "tam-altin",
    "CUMHURIYETALTINI": "cumhuriyet-altini",
    "ATAALTIN": "ata-altin",
    "RESATALTIN": "resat-altin",
    "HAMITALTIN": "hamit-altin",
    "IKIBUCUKALTIN": "ikibucuk-altin",
    "BESLIALTIN": "besli-altin",
    "GREMSEALTIN": "gremse-altin",
    "14AYARALTIN": "14-ayar-altin",
    "18AYARALTIN": "18-ayar-altin",
    "YIA": "22-ayar-bilezik",
    "22AYARBILEZIK": "22-ayar-bilezik",
    "GUMUS": "gumus",
    "GPL": "gram-platin",
    "PAL": "gram-paladyum",
    "ONS": "ons",
}
_CURRENCY: Final = re.compile(r"[A-Z]{3}")
#: `6.640,10`: dots between thousands, a comma before decimals.
_TURKISH: Final = re.compile(r"-?[0-9]{1,3}(\.[0-9]{3})*(,[0-9]+)?|-?[0-9]+(,[0-9]+)?")
#: A row in a body that ends in the middle; rows have no objects inside.
_ROW: Final = re.compile(rb'"([A-Za-z0-9-]{1,40})"\s*:\s*(\{[^{}]*\})')
_MADE: Final = re.compile(rb'"Update_Date"\s*:\s*"([0-9: -]{19})"')
_SIGNS: Final = str.maketrans("", "", "$%₺ ")


class _Version(Struct, frozen=True):
    name: str
    path: str
    turkish: bool = False


_FOURTH: Final = _Version("v4", "/v4/today.json")
_FIFTH: Final = _Version("v5", "/api/today.json")
_THIRD: Final = _Version("v3", "/v3/today.json", turkish=True)


class Truncgil:
    """Versions 4 and 3 at `url`, version 5 at `fifth_url`: it reads the first that answers in full."""

    name = "truncgil"
    #: A free service of a community: once a minute is enough.
    every_seconds = 60.0

    def __init__(self, url: str, fifth_url: str) -> None:
        self._versions = ((url, _FOURTH), (fifth_url, _FIFTH), (url, _THIRD))
        self._refused = RefusalCounter(self.name)

    async def read(self) -> RatesAnswer:
        """Returns the first whole answer, or the longest of the incomplete ones.

        Raises UpstreamError when no version answers, or one asks for a pause.
        """
        failures: list[str] = []
        parts: list[RatesAnswer] = []
        for url, version in self._versions:
            try:
                answer = await self._read(url, version)
            except UpstreamError as error:
                if error.retry_after is not None:
                    raise
                failures.append(f"{version.name}: {error}")
                continue
            if answer.whole:
                return answer
            parts.append(answer)
        if parts:
            return max(parts, key=lambda part: len(part.rates))
        raise UpstreamError(f"Truncgil does not answer: {'; '.join(failures)}")

    async def _read(self, url: str, version: _Version) -> RatesAnswer:
        try:
            async with open_client(url) as client:
                body = await get_bytes(client, version.path)
        except UpstreamCutShort as error:
            body = error.received
        try:
            return read_answer(body, self._refused, turkish=version.turkish)
        except ValueError as error:
            raise UpstreamError(f"unreadable: {error}") from error


class TruncgilRow(Struct, frozen=True, rename="pascal"):
    """A row of one symbol; numbers are numbers, or text in the style of their version."""

    type: str = ""
    name: str = ""
    buying: Number = None
    selling: Number = None
    change: Number = None


_row: Final = msgspec.json.Decoder(TruncgilRow)


class _Nested(Struct, frozen=True, rename="pascal"):
    rates: Mapping[str, Raw]


def read_answer(body: bytes, refused: RefusalCounter, *, turkish: bool = False) -> RatesAnswer:
    """Returns an answer of any version; `turkish` means numbers in the Turkish style (version 3).

    It skips rows of unknown symbols. It counts malformed rows (`malformed`), rows without a price above zero
    (`unreadable`), and a body that ends in the middle (`cut_short`), of which it reads the whole rows. Raises
    ValueError when no rate remains.
    """
    rows, whole = _rows(body)
    if not whole:
        refused.count("cut_short")
    found: list[DealerRate] = []
    for key, raw in rows:
        if symbol := symbol_of(key):
            decoded = decode_each([raw], _row.decode, refused)
            priced = (row for row in decoded if row.type != "CryptoCurrency")
            found += readable((_rate(symbol, row, turkish=turkish) for row in priced), refused)
    if not found:
        raise ValueError("no rates")
    made = _MADE.search(body)
    # Every version writes the time of Istanbul.
    return RatesAnswer(found, instant(f"{made[1].decode()}+03:00") if made else None, whole)


def symbol_of(key: str) -> str | None:
    """Returns our symbol of a code; None for instruments outside the feed, such as oil."""
    if key in CODES:
        return CODES[key]
    return key if key in instruments() or _CURRENCY.fullmatch(key) else None


def plain(value: Number, *, turkish: bool) -> Number:
    """Returns the text of either style with a decimal dot, None for Turkish text that is not a number."""
    if not isinstance(value, str):
        return value
    text = value.translate(_SIGNS)
    if not turkish and "," not in text:
        return text
    return text.replace(".", "").replace(",", ".") if _TURKISH.fullmatch(text) else None


def _rows(body: bytes) -> tuple[Iterable[tuple[str, Raw | bytes]], bool]:
    """Returns the rows, and whether the body is whole: one that ends in the middle has open braces."""
    try:
        members = msgspec.json.decode(body, type=dict[str, Raw])
        if "Rates" in members:
            members = dict(msgspec.json.decode(body, type=_Nested).rates)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except ValueError:
        if body.count(b"{") <= body.count(b"}"):
            raise
        return ((key.decode(), row) for key, row in _ROW.findall(body)), False
    return members.items(), True


def _rate(symbol: str, row: TruncgilRow, *, turkish: bool) -> DealerRate | None:
    selling = positive(plain(row.selling, turkish=turkish))
    if selling is None:
        return None
    buying = positive(plain(row.buying, turkish=turkish))
    change = signed_decimal(plain(row.change, turkish=turkish))
    return DealerRate(symbol, selling, buying, change, row.name)
