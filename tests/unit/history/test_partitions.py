"""Names and bounds of partitions, and their retention."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.history.partitions import TABLES, expired, partition_named, partition_of
from quotecast.market.own_bars import LIVE_INTERVALS, LiveInterval

MOMENT = datetime(2026, 11, 22, 13, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    ("interval", "name", "begin", "end"),
    [
        ("1m", "bars_1m_20261122", (2026, 11, 22), (2026, 11, 23)),
        ("5m", "bars_5m_202611", (2026, 11, 1), (2026, 12, 1)),
        ("15m", "bars_15m_202611", (2026, 11, 1), (2026, 12, 1)),
        ("1h", "bars_1h_2026", (2026, 1, 1), (2027, 1, 1)),
        ("D", "bars_d_2026", (2026, 1, 1), (2027, 1, 1)),
    ],
)
def test_a_bar_is_in_the_partition_of_its_opening(
    interval: LiveInterval, name: str, begin: tuple[int, int, int], end: tuple[int, int, int]
) -> None:
    partition = partition_of(interval, MOMENT)
    assert partition.name == name
    assert (partition.begin, partition.end) == (datetime(*begin, tzinfo=UTC), datetime(*end, tzinfo=UTC))


def test_a_moment_of_another_zone_is_in_the_partition_of_its_day_in_utc() -> None:
    istanbul = timezone(timedelta(hours=3))
    assert partition_of("1m", datetime(2026, 1, 1, 2, 59, tzinfo=istanbul)).name == "bars_1m_20251231"
    assert partition_of("D", datetime(2026, 1, 1, 2, 59, tzinfo=istanbul)).name == "bars_d_2025"


@given(
    st.sampled_from(LIVE_INTERVALS),
    st.datetimes(datetime(1970, 1, 1), datetime(2900, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - as Hypothesis wants them
)
def test_partitions_follow_each_other_without_a_gap(interval: LiveInterval, moment: datetime) -> None:
    """A partition contains its moment, the next begins where it ends, and each name has one partition."""
    partition = partition_of(interval, moment)
    following = partition_of(interval, partition.end)
    assert partition.begin <= moment < partition.end
    assert following.begin == partition.end
    assert following.name != partition.name
    assert partition_named(partition.name) == partition


@pytest.mark.parametrize(
    "name",
    [
        "bars_1m",
        "bars_1m_2026",
        "bars_1m_2026113",
        "bars_1m_20261301",
        "bars_2m_20261122",
        "bars_d_archive",
        "",
    ],
)
def test_a_table_of_another_name_is_no_partition_of_ours(name: str) -> None:
    assert partition_named(name) is None


def test_a_partition_expires_when_its_last_bar_is_older_than_the_retention() -> None:
    """A partition goes as a whole, so bars live for up to its span longer. Unknown tables stay."""
    days: dict[LiveInterval, int] = dict.fromkeys(TABLES, 30)
    names = ["bars_1m_20261023", "bars_1m_20261022", "bars_5m_202610", "bars_5m_202609", "bars_d_archive"]
    gone = expired(names, days, datetime(2026, 11, 22, tzinfo=UTC))
    assert [each.name for each in gone] == ["bars_1m_20261022", "bars_5m_202609"]
