"""What the sources of the Turkish market write, and what is read of it."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.turkey import bulletin as made
from fakes.turkey import currency, turkish_number
from quotecast.market.numbers import signed_decimal
from quotecast.market.quotes import DovizQuote
from quotecast.providers.genelpara import client as genelpara
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.tcmb.wire import Bulletin, bulletin
from quotecast.providers.truncgil.client import plain, read_answer
from quotecast.providers.turkey.dealing import DealerRate

NOW = 1_795_118_400.0
DAY = date(2026, 11, 20)


def read(*rows: str, encoding: str = "UTF-8") -> Bulletin:
    body = made(DAY, *rows, encoding=encoding).body
    assert body
    return bulletin(body)


def test_bulletin_is_divided_by_its_units() -> None:
    """A rate for a hundred yen becomes the exact rate of one."""
    found = read(currency("USD", "44.1800", "44.1000"), currency("JPY", "28.4853", "28.2979", unit=100))
    assert found.date == DAY
    assert (found.rows["USD"].buying, found.rows["USD"].selling) == (Decimal("44.1"), Decimal("44.18"))
    assert found.rows["JPY"].selling == Decimal("0.284853")


def test_bulletin_becomes_quotes_of_the_bank() -> None:
    """At 15:30 in Istanbul; the change is against the bulletin before, the name is ours."""
    before = read(currency("USD", "44.0000"))
    [quote] = read(currency("USD", "44.1800", "44.1000")).quotes(before, NOW + 86_400)
    assert quote == DovizQuote(
        provider="tcmb",
        symbol="tcmb-USD",
        name="ABD Doları",
        category="currency",
        source="TCMB",
        unit="1 USD",
        currency="TRY",
        buying=44.1,
        selling=44.18,
        price=44.18,
        change=0.18,
        change_percent=0.4091,
        previous_close=44.0,
        timestamp="2026-11-20T12:30:00Z",
    )


def test_bulletin_that_is_told_before_its_hour_bears_the_time_of_receipt() -> None:
    """No quote is of the future."""
    [quote] = read(currency("USD", "44.1800")).quotes(None, NOW)
    assert quote.timestamp == "2026-11-19T20:00:00Z"


def test_bulletin_without_the_one_before_tells_no_change() -> None:
    """Null rather than 0, as for a currency that the one before did not have."""
    [quote] = read(currency("USD", "44.1800")).quotes(None, NOW)
    assert (quote.change, quote.change_percent, quote.previous_close) == (None, None, None)
    [added] = read(currency("USD", "44.1800")).quotes(read(currency("EUR", "51.2")), NOW)
    assert (added.change, added.change_percent, added.previous_close) == (None, None, None)
    assert quote.buying == quote.selling == 44.18


@pytest.mark.parametrize("buying", ["4410.00", "44.19", "4.41", ""])
def test_buying_rate_above_the_selling_one_or_far_below_is_the_selling_one(buying: str) -> None:
    """As where the bank has none."""
    assert read(currency("USD", "44.18", buying)).rows["USD"].buying == Decimal("44.18")


def test_row_without_rates_is_left_out_and_a_code_counts_once() -> None:
    """Self-closing elements, drawing rights, a code that comes twice."""
    found = read(
        currency("XDR", "", "61.5"), currency("USD", "44.18"), currency("USD", "1.00"), currency("E", "1")
    )
    assert list(found.rows) == ["USD"]
    assert found.rows["USD"].selling == Decimal("44.18")


def test_unknown_currency_bears_the_name_that_it_is_told_with() -> None:
    """In the letters of an old declaration too."""
    found = read(currency("XYZ", "1.50", name="İSVİÇRE ŞİLİNİ"), encoding="ISO-8859-9")
    assert found.quotes(None, NOW)[0].name == "İSVİÇRE ŞİLİNİ"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>404</html>",
        b"<Tarih_Date",
        b'<Tarih_Date Tarih="20.11.2026"/>',
        b'<!DOCTYPE x [<!ENTITY a "b">]><Tarih_Date Tarih="20.11.2026">&a;</Tarih_Date>',
        '<?xml version="1.0" encoding="UTF-16"?><Tarih_Date/>'.encode("utf-16"),
        b'<?xml version="1.0" encoding="nonsense"?><Tarih_Date/>',
        b"<" * 2_000_000,
    ],
)
def test_what_is_no_bulletin_is_refused(body: bytes) -> None:
    """Declarations among it: they could grow without bound."""
    with pytest.raises(ValueError, match=r"."):
        bulletin(body)


def test_day_that_is_none_is_refused() -> None:
    """The rest may be as it should."""
    body = made(DAY, currency("USD", "44.18")).body
    assert body
    with pytest.raises(ValueError, match=r"month"):
        bulletin(body.replace(b"20.11.2026", b"99.99.2026"))


@pytest.mark.parametrize(
    ("told", "version", "value"),
    [
        ("6.640,10", 3, "6640.10"),
        ("$4.000,76", 3, "4000.76"),
        ("%-0,10", 3, "-0.10"),
        ("%0,12", 3, "0.12"),
        ("44,1000", 3, "44.1000"),
        ("6.640", 3, "6640"),
        ("6640", 3, "6640"),
        ("1.234.567,8", 3, "1234567.8"),
        ("6640.10", 4, "6640.10"),
        ("6.640,10", 4, "6640.10"),
        (6640.1, 4, "6640.1"),
        (44, 4, "44"),
    ],
)
def test_amounts_are_read_in_both_styles(told: Any, version: int, value: str) -> None:
    """Dots between thousands and a comma, or a decimal dot."""
    assert signed_decimal(plain(told, turkish=version == 3)) == Decimal(value)


@pytest.mark.parametrize("text", [None, "", "-", "1,2,3", "1.23,4", "12.34.56", "NaN", "1e5", True, "٣,٤"])
def test_what_is_no_amount_is_none(text: Any) -> None:
    """Any other text has no amount."""
    assert signed_decimal(plain(text, turkish=True)) is None


@given(st.floats(min_value=0.0001, max_value=1e9), st.sampled_from(["", "$", "%"]))
def test_what_is_written_in_turkish_is_read_back(value: float, sign: str) -> None:
    """To its last digit."""
    text = turkish_number(value, sign)
    digits = 4 if value < 100 else 2
    assert signed_decimal(plain(text, turkish=True)) == Decimal(f"{value:.{digits}f}")


def encoded(value: Any) -> bytes:
    return msgspec.json.encode(value)


ROW = {"Type": "Gold", "Name": "Gram Altın", "Buying": 6640.1, "Selling": 6641.0, "Change": 0.4}


def test_codes_become_our_symbols() -> None:
    """Those of every version; what nobody here follows is passed over."""
    refused = RefusalCounter("test")
    told = {"Update_Date": "2026-11-20 14:05:01", "GRA": ROW, "gumus": ROW, "USD": ROW, "BRENT": ROW}
    found = read_answer(encoded(told), refused).rates
    assert [rate.symbol for rate in found] == ["gram-altin", "gumus", "USD"]
    assert found[0] == DealerRate(
        "gram-altin", Decimal("6641.0"), Decimal("6640.1"), Decimal("0.4"), "Gram Altın"
    )
    assert refused.by_reason() == {}


def test_fifth_version_is_read_without_its_crypto_currencies() -> None:
    """They are of another feed."""
    told = {"Meta_Data": {}, "Rates": {"GRA": ROW, "BTC": {"Type": "CryptoCurrency", "Selling": 4e6}}}
    assert [rate.symbol for rate in read_answer(encoded(told), RefusalCounter("test")).rates] == [
        "gram-altin"
    ]


def test_bad_row_never_spoils_the_others() -> None:
    """It is counted."""
    refused = RefusalCounter("test")
    told = {"GRA": ROW, "HAS": 7, "USD": ROW | {"Selling": "0"}, "EUR": ROW | {"Selling": None}}
    assert [rate.symbol for rate in read_answer(encoded(told), refused).rates] == ["gram-altin"]
    assert refused.by_reason() == {"malformed": 1, "unreadable": 2}


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"GRA":1}', b"<html>", b'{"Rates":7}', b'{"a":' + b"[" * 100_000]
)
def test_answer_without_a_rate_is_refused(body: bytes) -> None:
    """It must not look like a market without prices."""
    with pytest.raises(ValueError, match=r"."):
        read_answer(body, RefusalCounter("test"))


@pytest.mark.parametrize("cut", [b'"USD"', b'"Buying":44.1', b'"Selling":44.18'])
@pytest.mark.parametrize("nested", [False, True])
def test_answer_that_is_cut_short_keeps_its_whole_rows(cut: bytes, *, nested: bool) -> None:
    """Wherever it ends; it says that it is not whole, and it is counted."""
    refused = RefusalCounter("test")
    rows = {"GRA": ROW, "USD": {"Type": "Currency", "Buying": 44.1, "Selling": 44.18}}
    meta = {"Update_Date": "2026-11-20 14:05:01"}
    told = encoded({"Meta_Data": meta, "Rates": rows} if nested else meta | rows)
    whole = read_answer(told, RefusalCounter("test"))
    assert (whole.whole, len(whole.rates)) == (True, 2)
    part = read_answer(told.partition(cut)[0], refused)
    assert (part.whole, part.rates, part.made) == (False, whole.rates[:1], whole.made)
    assert refused.by_reason() == {"cut_short": 1}


def test_answer_was_made_at_its_own_time_in_istanbul() -> None:
    """None when it cannot be read."""
    for told, moment in {
        "2026-11-20 14:05:01": datetime(2026, 11, 20, 11, 5, 1, tzinfo=UTC),
        "2026-13-40 14:05:01": None,
        "yesterday": None,
    }.items():
        assert read_answer(encoded({"Update_Date": told, "GRA": ROW}), RefusalCounter("test")).made == moment


def test_genelpara_tells_by_list() -> None:
    """Its own codes of gold; a failure is one whatever its status."""
    row = {"alis": "44.10", "satis": "44.18", "oran": "0.12"}
    body = encoded({"success": True, "data": {"USD": row, "GA": row, "XX": row, "EUR": {"satis": "-1"}}})
    refused = RefusalCounter("test")
    assert [rate.symbol for rate in genelpara.rates(body, "doviz", refused)] == ["USD"]
    assert [rate.symbol for rate in genelpara.rates(body, "altin", refused)] == ["gram-altin"]
    assert refused.by_reason() == {"unreadable": 1}
    for bad in (b'{"success":false,"message":"no"}', b"[]", b"x"):
        with pytest.raises(ValueError, match=r"."):
            genelpara.rates(bad, "doviz", refused)
