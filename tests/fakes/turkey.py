"""Fakes of the free Turkish sources on one local port: TCMB, Truncgil in three versions, GenelPara.

By hand: `PYTHONPATH=tests python -m fakes.turkey --port 8700`.
"""

import argparse
import asyncio
import contextlib
import random
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from fakes.http import Answer, FakeHttp, HttpRequest, Row
from quotecast.market.reference import doviz_instruments
from quotecast.providers.truncgil.client import CODES

NO_BULLETIN = Answer(b"<html>404</html>", 404, "text/html")
NO_AGENT = Answer(b"<html>403 Forbidden</html>", 403, "text/html")
FAILED = Answer.of({"success": False, "error": "list", "message": "Gecersiz liste"})

_ARCHIVE = re.compile(r"/kurlar/(\d{6})/(\d{8})\.xml")
#: GenelPara's names of gold and silver.
_GENELPARA = {"gram-altin": "GA", "ceyrek-altin": "C", "gumus": "GAG"}


@dataclass(frozen=True)
class MarketPrice:
    """The prices of one symbol, under quotecast's name; the change is in percent."""

    buying: float
    selling: float
    change: float = 0.12
    name: str = ""


def turkish_number(value: float, sign: str = "") -> str:
    """Returns a number as version 3 writes it."""
    text = f"{value:,.4f}" if abs(value) < 100 else f"{value:,.2f}"
    return sign + text.replace(",", " ").replace(".", ",").replace(" ", ".")


def currency(code: str, selling: str, buying: str = "", unit: int = 1, name: str = "X") -> str:
    """Returns a row of the bulletin; rates without a value are empty."""
    tags = {"ForexBuying": buying, "ForexSelling": selling, "BanknoteBuying": "", "CrossRateUSD": ""}
    rows = "".join(f"<{tag}>{text}</{tag}>" if text else f"<{tag}/>" for tag, text in tags.items())
    return (
        f'<Currency CrossOrder="0" Kod="{code}" CurrencyCode="{code}"><Unit>{unit}</Unit>'
        f"<Isim>{name}</Isim><CurrencyName>{name}</CurrencyName>{rows}</Currency>"
    )


def bulletin(day: date, *rows: str, encoding: str = "UTF-8") -> Answer:
    """Returns the bulletin of a day."""
    text = (
        f'<?xml version="1.0" encoding="{encoding}"?>\n'
        '<?xml-stylesheet type="text/xsl" href="isokur.xsl"?>\n'
        f'<Tarih_Date Tarih="{day:%d.%m.%Y}" Date="{day:%m/%d/%Y}" Bulten_No="{day:%Y}/1">'
        f"{''.join(rows)}</Tarih_Date>"
    )
    return Answer(text.encode(encoding), content_type="application/xml")


class FakeTurkey(FakeHttp):
    """The Turkish sources. `dealt` has the prices at market sources by quotecast's symbols.

    `bulletins` are the central bank's; the newest is today's.
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.prices: dict[str, MarketPrice] = {}
        self.bulletins: dict[date, Sequence[str]] = {}
        self.encoding = "UTF-8"
        #: Advances each minute, whether prices do or not.
        self.update_date = "2026-11-20 14:05:01"
        #: Whether version 4 writes numbers as text.
        self.as_text = False

    def respond(self, request: HttpRequest) -> Answer:
        if not request.headers.get("User-Agent"):
            return NO_AGENT
        if request.path == "/json/":
            return self._genelpara(request.query)
        truncgil = {
            "/v3/today.json": lambda: {"Update_Date": self.update_date} | self._third(),
            "/v4/today.json": lambda: {"Update_Date": self.update_date} | self._fourth(),
            "/api/today.json": self._fifth,
        }
        build = truncgil.get(request.path)
        return Answer.of(build()) if build else self._bulletin(request.path)

    def _bulletin(self, path: str) -> Answer:
        found = _ARCHIVE.fullmatch(path)
        if path == "/kurlar/today.xml" and self.bulletins:
            day = max(self.bulletins)
        elif found and found[1] == found[2][4:] + found[2][2:4]:
            day = date(int(found[2][4:]), int(found[2][2:4]), int(found[2][:2]))
        else:
            return NO_BULLETIN
        if day not in self.bulletins:
            return NO_BULLETIN
        return bulletin(day, *self.bulletins[day], encoding=self.encoding)

    def _third(self) -> Row:
        return {
            symbol: {
                "Buying": turkish_number(each.buying, "$" if symbol == "ons" else ""),
                "Selling": turkish_number(each.selling, "$" if symbol == "ons" else ""),
                "Type": _type(symbol),
                "Change": f"%{each.change:.2f}".replace(".", ","),
            }
            for symbol, each in self.prices.items()
        }

    def _fourth(self) -> Row:
        codes = {symbol: code for code, symbol in reversed(CODES.items())}
        rows: Row = {}
        for symbol, each in self.prices.items():
            numbers: Row = {"Buying": each.buying, "Selling": each.selling, "Change": each.change}
            if self.as_text:
                numbers = {name: str(value) for name, value in numbers.items()}
            rows[codes.get(symbol, symbol)] = {"Type": _type(symbol), "Name": each.name} | numbers
        return rows

    def _fifth(self) -> Row:
        bitcoin = {"Type": "CryptoCurrency", "Name": "Bitcoin", "Selling": 4050000.5, "Change": 1.2}
        meta = {"Minutes_Ago": 0, "Update_Date": self.update_date}
        return {"Meta_Data": meta, "Rates": {"BTC": bitcoin} | self._fourth()}

    def _genelpara(self, query: Mapping[str, str]) -> Answer:
        lists = {
            "doviz": {symbol: symbol for symbol in self.prices if len(symbol) == 3 and symbol.isupper()},
            "altin": {symbol: code for symbol, code in _GENELPARA.items() if symbol in self.prices},
            "endeks": {"XU100": "XU100"} if "XU100" in self.prices else {},
        }
        name = query.get("list", "")
        if name not in lists or query.get("sembol") != "all":
            return FAILED
        rows = {code: _genelpara_row(self.prices[symbol]) for symbol, code in lists[name].items()}
        return Answer.of({"success": True, "data": rows, "rate_limit": {"limit": 1000, "remaining": 998}})


def _genelpara_row(each: MarketPrice) -> Row:
    return {
        "alis": f"{each.buying}",
        "satis": f"{each.selling}",
        "degisim": "0.05",
        "oran": f"{each.change}",
        "yon": "moneyUp",
        "sembol": "₺",
    }


def _type(symbol: str) -> str:
    return "Currency" if len(symbol) == 3 and symbol.isupper() else "Gold"


async def _move(fake: FakeTurkey) -> None:
    """Moves every price in a random walk, for ever."""
    while True:
        await asyncio.sleep(5)
        for symbol, each in fake.prices.items():
            factor = random.uniform(0.9995, 1.0005)
            fake.prices[symbol] = MarketPrice(
                round(each.buying * factor, 4), round(each.selling * factor, 4), each.change
            )


async def _serve(port: int) -> None:
    async with FakeTurkey(port) as fake:
        today = date.today()  # noqa: DTZ011 - whichever day it is here
        for each in doviz_instruments():
            if each.bank is None:
                fake.prices[each.symbol] = MarketPrice(round(each.price * 0.998, 4), each.price)
        rates = [(each.symbol, each.price) for each in doviz_instruments() if each.unit == f"1 {each.symbol}"]
        for back, factor in ((0, 1.0), (1, 0.998)):
            rows = [currency(code, f"{price * factor:.4f}", f"{price * 0.99:.4f}") for code, price in rates]
            fake.bulletins[today - timedelta(days=back)] = rows
        sys.stdout.write(f"{fake.url}\n")
        sys.stdout.flush()
        await _move(fake)


def main() -> None:
    parser = argparse.ArgumentParser(description="Serves invented sources of the Turkish market.")
    parser.add_argument("--port", type=int, default=0, help="any free one by default")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
