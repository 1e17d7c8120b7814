"""The bulletin of the Central Bank of Türkiye, and the conversion of its rows to quotes.

Source of the format: `kurlar/today.xml` and its archive, "Gösterge Niteliğindeki Merkez Bankası Kurları".
Rates are indicative, in lira, as of 15:30 in Istanbul on business days.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Final
from xml.etree import ElementTree as ET

from msgspec import Struct

from quotecast.market.numbers import percent_change, positive, timestamp_of, to_float
from quotecast.market.quotes import DovizQuote
from quotecast.providers.turkey.dealing import LIRA, instruments, is_believable_buying

MAX_BYTES: Final = 1024 * 1024
#: Türkiye has this offset all year.
ISTANBUL: Final = timezone(timedelta(hours=3))
MADE_AT: Final = time(15, 30, tzinfo=ISTANBUL)

_DATE: Final = re.compile(r"(\d{2})\.(\d{2})\.(\d{4})")
_CODE: Final = re.compile(r"[A-Z]{3}")


class BulletinRow(Struct, frozen=True):
    """One currency, in lira for one unit of it."""

    name: str
    buying: Decimal
    selling: Decimal


class Bulletin(Struct, frozen=True):
    """The rates of a day, by ISO code."""

    date: date
    rows: Mapping[str, BulletinRow]

    def quotes(self, before: "Bulletin | None", received: float) -> list[DovizQuote]:
        """Returns the quotes of `tcmb-USD` and so on, received at that Unix time.

        The change is against `before`, and null for a currency that is not in it.
        """
        timestamp = timestamp_of(datetime.combine(self.date, MADE_AT).astimezone(UTC), received)
        quotes = []
        for code, row in self.rows.items():
            known, earlier = instruments().get(code), before.rows.get(code) if before else None
            quote = DovizQuote(
                provider="tcmb",
                symbol=f"tcmb-{code}",
                name=known.name if known else row.name or code,
                category="currency",
                source="TCMB",
                unit=f"1 {code}",
                currency=LIRA,
                buying=float(row.buying),
                selling=float(row.selling),
                price=float(row.selling),
                change=None if earlier is None else float(row.selling - earlier.selling),
                change_percent=None if earlier is None else percent_change(row.selling, earlier.selling),
                previous_close=None if earlier is None else to_float(earlier.selling),
                timestamp=timestamp,
            )
            quotes.append(quote)
        return quotes


def bulletin(body: bytes) -> Bulletin:
    """Returns a bulletin, without rows that have no rates; the first row of a repeated code counts.

    Raises ValueError for anything but a bulletin with rates.
    """
    # Declarations allow entities, which can grow without bound; a bulletin has none.
    if len(body) > MAX_BYTES or b"\0" in body or b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise ValueError("no plain XML")
    try:
        root = ET.fromstring(body)  # noqa: S314 - it has no declarations  # nosec B314
    except (ET.ParseError, LookupError) as error:
        raise ValueError(f"no XML: {error}") from error
    day_text = _DATE.fullmatch(root.get("Tarih", "").strip())
    rows: dict[str, BulletinRow] = {}
    for element in root.iter("Currency"):
        code = element.get("Kod") or element.get("CurrencyCode") or ""
        fields = "Unit", "ForexBuying", "ForexSelling"
        unit, buying, selling = (positive((element.findtext(each) or "").strip()) for each in fields)
        if unit is None or selling is None or code in rows or not _CODE.fullmatch(code):
            continue
        name = (element.findtext("Isim") or element.findtext("CurrencyName") or "").strip()
        if buying is None or not is_believable_buying(buying, selling):
            buying = selling
        rows[code] = BulletinRow(name, buying / unit, selling / unit)
    if day_text is None or not rows:
        raise ValueError("no bulletin")
    day, month, year = map(int, day_text.groups())
    return Bulletin(date(year, month, day), rows)
