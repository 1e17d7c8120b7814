"""The central bank's bulletins from a local server: which is the newest, and which was before it."""

from collections.abc import AsyncIterator
from datetime import date, timedelta

import pytest

from fakes.http import HTML_503
from fakes.turkey import FakeTurkey, bulletin, currency
from quotecast.errors import UpstreamError
from quotecast.providers.tcmb.client import Tcmb

#: 23:00 in Istanbul, the evening before FRIDAY.
NOW = 1_795_118_400.0
FRIDAY = date(2026, 11, 20)
TODAY = "/kurlar/today.xml"


@pytest.fixture
async def fake() -> AsyncIterator[FakeTurkey]:
    async with FakeTurkey() as fake:
        fake.bulletins = {
            FRIDAY: [currency("USD", "44.1800", "44.1000"), currency("JPY", "28.4853", "28.29", unit=100)],
            FRIDAY - timedelta(days=3): [currency("USD", "44.0000", "43.9000")],
        }
        yield fake


def paths(fake: FakeTurkey) -> list[str]:
    return [asked.path for asked in fake.requests]


def bank_at(fake: FakeTurkey, days: int) -> Tcmb:
    return Tcmb(fake.url, clock=lambda: NOW + days * 86_400)


async def test_next_bulletin_is_compared_to_the_last(fake: FakeTurkey) -> None:
    """The archive shows that there was none between; the last itself needs no request."""
    bank = bank_at(fake, 5)
    await bank.read()
    fake.bulletins[FRIDAY + timedelta(days=3)] = [currency("USD", "44.5000", "44.4000")]
    [quote] = await bank.read()
    assert (quote.change, quote.previous_close, quote.timestamp) == (0.32, 44.18, "2026-11-23T12:30:00Z")
    assert "/kurlar/202611/20112026.xml" not in paths(fake)


async def test_bulletin_after_an_outage_is_compared_to_the_one_that_was_missed(fake: FakeTurkey) -> None:
    """The archive has it, though this process never saw it."""
    bank = bank_at(fake, 8)
    await bank.read()
    fake.bulletins[FRIDAY + timedelta(days=3)] = [currency("USD", "44.5000")]
    fake.bulletins[FRIDAY + timedelta(days=4)] = [currency("USD", "44.6000")]
    [quote] = await bank.read()
    assert (quote.change, quote.previous_close) == (0.1, 44.5)


async def test_older_bulletin_never_replaces_a_newer_one(fake: FakeTurkey) -> None:
    """A cache of the bank's site that lags behind leaves every quote as it is."""
    bank = bank_at(fake, 5)
    newest = await bank.read()
    monday = FRIDAY - timedelta(days=4)
    fake.answers[TODAY] = bulletin(monday, currency("USD", "43.0000"))
    assert await bank.read() == newest


async def test_bulletin_of_the_future_is_refused(fake: FakeTurkey) -> None:
    """It would shut out every true bulletin until then; the true ones are read on."""
    bank = bank_at(fake, 5)
    newest = await bank.read()
    fake.answers[TODAY] = bulletin(date(2062, 11, 20), currency("USD", "43.0000"))
    with pytest.raises(UpstreamError, match="2062-11-20"):
        await bank.read()
    fake.answers.clear()
    assert await bank.read() == newest


async def test_archive_that_answers_with_the_bulletin_of_today_gives_no_change(fake: FakeTurkey) -> None:
    """Against itself the change would be 0."""
    today = bulletin(FRIDAY, *fake.bulletins[FRIDAY])
    fake.answers["/kurlar/202611/19112026.xml"] = today
    assert [quote.change for quote in await bank_at(fake, 0).read()] == [None, None]


async def test_archive_that_fails_leaves_the_change_null(fake: FakeTurkey) -> None:
    """The next call asks for it again."""
    fake.answers["/kurlar/202611/19112026.xml"] = HTML_503
    bank = bank_at(fake, 0)
    dollar = (await bank.read())[0]
    assert (dollar.change, dollar.change_percent, dollar.previous_close) == (None, None, None)
    fake.answers.clear()
    dollar = (await bank.read())[0]
    assert (dollar.change, dollar.change_percent, dollar.previous_close) == (0.18, 0.4091, 44.0)
