"""Numbers and times as upstreams write them."""

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market.numbers import (
    MAX_SKEW,
    Number,
    from_milliseconds,
    instant,
    number,
    percent_change,
    positive,
    signed_decimal,
    timestamp_of,
    to_float,
)

NOON = datetime(2026, 11, 19, 12, tzinfo=UTC)

texts = (
    st.text()
    | st.floats().map(str)
    | st.from_regex(r"-?[0-9]{0,40}(\.[0-9]{0,40})?([eE][-+]?[0-9]{1,9})?", fullmatch=True)
)
numbers = st.none() | texts | st.floats() | st.integers()
decimals = st.decimals(min_value=-(10**18), max_value=10**18, places=9)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("14.7775", "14.7775"),
        ("14.77750", "14.77750"),
        ("0.1", "0.1"),
        (0.1, "0.1"),
        (1e-05, "0.00001"),
        (174, "174"),
        ("1E3", "1000"),
        ("007", "7"),
        ("1e18", "1000000000000000000"),
        (10**18, "1000000000000000000"),
    ],
)
def test_number_is_read_exactly_as_written(value: Number, read: str) -> None:
    """A JSON number is as good as a numeric string, and a float is its shortest text."""
    assert number(value) == positive(value) == signed_decimal(value) == Decimal(read)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        "",
        " 1",
        "1 ",
        "1\n",
        "+1",
        ".5",
        "1.",
        "1_0",
        "1,5",
        "0x1",
        "٣",
        "NaN",
        "sNaN",
        "inf",
        "-inf",
        "1e19",
        "1e400",
        "1e9999",
        "-1e19",
        "9" * 31,
        10**19,
        math.nan,
        math.inf,
        "null",
    ],
)
def test_what_is_no_number_is_none(value: Number) -> None:
    """Nor is what no market trades at."""
    assert number(value) is positive(value) is signed_decimal(value) is None


@pytest.mark.parametrize("value", ["-1", -1, -0.5, "-1e-9", "-1e18"])
def test_below_zero_only_a_signed_number_goes(value: Number) -> None:
    """Changes fall, prices and volumes do not."""
    assert signed_decimal(value) == Decimal(str(value))
    assert number(value) is positive(value) is None


@pytest.mark.parametrize("value", ["0", 0, "0.000", 0.0, "0e5", "1e-19"])
def test_zero_is_a_number_but_not_positive(value: Number) -> None:
    """A volume of nothing is a volume; a price of nothing is none."""
    assert number(value) == Decimal(str(value))
    assert positive(value) is None


@given(decimals)
def test_every_decimal_in_bounds_is_read_back(decimal: Decimal) -> None:
    """Reading loses nothing that is written plainly."""
    assert signed_decimal(f"{decimal:f}") == decimal


@given(numbers)
def test_whatever_is_written_a_number_is_finite_and_in_bounds(value: Number) -> None:
    """No float that comes of it is anything but an ordinary number, nor is any quotient."""
    read = signed_decimal(value)
    assert read is None or abs(read) <= 10**18
    assert number(value) in {None, read}
    assert positive(value) in {None, read}
    if (above := positive(value)) is not None:
        assert above > 0
        assert math.isfinite(percent_change(Decimal(10) ** 18, above))


@given(st.integers() | st.floats())
def test_numbers_of_any_json_are_read_or_refused(value: float) -> None:
    """However long an upstream writes them, nothing is raised."""
    decoded = msgspec.json.decode(msgspec.json.encode(value), type=Number)
    assert number(decoded) is None or number(decoded) == Decimal(str(value))


@pytest.mark.parametrize(
    ("decimal", "read"), [(Decimal("14.7775"), 14.7775), (Decimal(0), 0.0), (None, None)]
)
def test_float_is_the_nearest_one(decimal: Decimal | None, read: float | None) -> None:
    """None stays None."""
    assert to_float(decimal) == read


@pytest.mark.parametrize(
    ("now", "before", "percent"),
    [("110", "100", 10.0), ("100", "110", -9.0909), ("14.7775", "14.6647", 0.7692), ("0.3", "0.3", 0.0)],
)
def test_change_is_in_percent_with_four_digits(now: str, before: str, percent: float) -> None:
    """Of the earlier price."""
    assert percent_change(Decimal(now), Decimal(before)) == percent


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2026-11-19T12:00:00Z", NOON),
        ("2026-11-19T12:00:00", NOON),
        ("2026-11-19T15:00:00+03:00", NOON),
        ("2026-11-19 07:00:00-0500", NOON),
        ("2026-11-19T12:00:00.1Z", NOON + timedelta(milliseconds=100)),
        ("2026-11-19T12:00:00.123456789Z", NOON + timedelta(microseconds=123456)),
        ("2026-11-19T07:00:00.123456789-05:00", NOON + timedelta(microseconds=123456)),
    ],
)
def test_moment_is_read_in_utc(text: str, told: datetime) -> None:
    """At any offset, with up to nine digits of a second."""
    read = instant(text)
    assert read == told
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        *("", "yesterday", "1795118400", "2026-13-01", "0001-01-01T00:00:00+05:00", None),
        *("0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2201-01-01T00:00:00Z", "9999-12-31T23:59:59Z"),
    ],
)
def test_what_is_no_moment_is_none(text: str | None) -> None:
    """Nor is a moment before 1970 or after 2200: Go's zero time has no date in New York."""
    assert instant(text) is None


@given(st.text() | st.datetimes(timezones=st.none() | st.timezones()).map(str))
def test_any_text_is_a_moment_in_utc_or_none(text: str) -> None:
    """Nothing is raised."""
    read = instant(text)
    assert read is None or read.tzinfo is UTC


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (1_795_089_600_000, datetime(2026, 11, 19, 12, tzinfo=UTC)),
        (1_795_089_600_123, datetime(2026, 11, 19, 12, 0, 0, 123_000, tzinfo=UTC)),
        (None, None),
        (math.nan, None),
        (math.inf, None),
        (1e30, None),
        (-1e30, None),
        (-1, None),
        (253_402_300_799_000, None),
    ],
)
def test_milliseconds_are_a_moment(value: float | None, told: datetime | None) -> None:
    """Those before 1970 or after 2200 are none."""
    assert from_milliseconds(value) == told


@pytest.mark.parametrize(
    ("told", "written"),
    [
        (NOON - timedelta(days=400), "2025-10-15T12:00:00Z"),
        (NOON - timedelta(microseconds=1), "2026-11-19T11:59:59.999999Z"),
        (NOON + MAX_SKEW, "2026-11-19T12:01:00Z"),
        (NOON + MAX_SKEW + timedelta(microseconds=1), "2026-11-19T12:00:00Z"),
        (None, "2026-11-19T12:00:00Z"),
    ],
)
def test_stamp_is_not_ahead_by_more_than_clocks_differ(told: datetime | None, written: str) -> None:
    """A time over a minute ahead of ours, or missing, gives way to the time of receipt."""
    assert timestamp_of(told, NOON.timestamp()) == written
