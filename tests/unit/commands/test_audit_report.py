"""The thresholds of `quotecast audit`, its text, its JSON and its arguments."""

import importlib
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from quotecast import __main__
from quotecast.commands import audit
from quotecast.commands.auditing.report import (
    AgeReport,
    AuditLimits,
    AuditReport,
    BackwardsReport,
    ClockReport,
    DayReport,
    Example,
    FeedAuditReport,
    GapReport,
    RestReport,
    SilenceReport,
    StateChange,
    broken,
    lines_of,
)
from quotecast.commands.auditing.upstream import UpstreamAudit, providers_of
from quotecast.errors import SettingsError
from quotecast.providers.base import Update
from quotecast.settings import loading
from support.made.audit_frames import iso, moment
from support.made.market import stock

FEED = FeedAuditReport(
    messages=240,
    quotes=3000,
    messages_per_second=4.0,
    quotes_per_second=50.0,
    symbols=500,
    ages=AgeReport(120.0, 230.0, 240.0, 260.5, 0),
    silences=SilenceReport(0.3, 15.0, 0, {"NVR": 9.5}),
    backwards=BackwardsReport(),
    gaps=GapReport(),
    rest=RestReport(120, 0, []),
    states=[StateChange(15.0, "live")],
)
GOOD = AuditReport(
    source="ws://a", seconds=60.0, clock=ClockReport(-2.5, 1.0), reconnects=0, feeds={"market": FEED}
)


def with_feed(**changes: Any) -> AuditReport:
    return replace(GOOD, feeds={"market": replace(FEED, **changes)})


def test_a_good_feed_breaks_no_threshold() -> None:
    assert broken(GOOD, AuditLimits()) == []


@pytest.mark.parametrize(
    ("report", "option", "value"),
    [
        (with_feed(ages=AgeReport(1.0, 2.0, 5000.5, 9000.0, 0)), "--max-age-p99", 5000.5),
        (with_feed(silences=SilenceReport(30.1, 15.0, 0, {})), "--max-silence", 30.1),
        (with_feed(gaps=GapReport(sequence=1)), "--max-gaps", 1),
        (with_feed(gaps=GapReport(epochs=2)), "--max-gaps", 2),
        (with_feed(gaps=GapReport(resyncs=1)), "--max-gaps", 1),
        (replace(GOOD, reconnects=3), "--max-gaps", 3),
        (replace(GOOD, unreadable=1), "--max-gaps", 1),
        (with_feed(backwards=BackwardsReport(timestamps=1)), "--max-backwards", 1),
        (with_feed(backwards=BackwardsReport(cursors=1)), "--max-backwards", 1),
        (with_feed(rest=RestReport(9, 1, [])), "--max-disagreements", 1),
        (with_feed(symbols=0), "", 0),
    ],
)
def test_each_threshold_can_break(report: AuditReport, option: str, value: float) -> None:
    [found] = broken(report, AuditLimits())
    assert (found.option, found.value) == (option, value)
    text = "\n".join(lines_of(replace(report, broken=[found])))
    assert (f"({option})" if option else "no quote came") in text
    assert "BROKEN" in text
    assert "All thresholds hold" not in text


def test_a_threshold_may_be_higher() -> None:
    report = replace(with_feed(backwards=BackwardsReport(2, 1)), reconnects=2)
    assert broken(report, AuditLimits(max_gaps=2, max_backwards=3)) == []


def test_the_text_has_every_figure() -> None:
    example = Example("AAPL", iso(0), 1.5, 2.5)
    report = with_feed(rest=RestReport(120, 1, [example]), rejected=["XXXX"])
    lines = [*lines_of(report)]
    text = "\n".join(lines)
    assert lines[0] == "ws://a for 60.0 s"
    assert "-2.5 ms" in lines[1]
    rows = {line[:30].strip(): line[30:].strip() for line in lines}
    assert rows["age p99 (ms)"] == "240"
    assert rows["age max (ms)"] == "260.5"
    assert rows["quotes"] == "3,000"
    assert rows["disagreements with REST"] == "1"
    assert all(
        part in text for part in ("NVR 9.5 s", "live at 15.0 s", "XXXX", "1.5 in the feed, 2.5 in REST")
    )
    assert lines[-1] == "All thresholds hold."


def test_an_upstream_has_no_rows_of_a_service() -> None:
    feed = replace(FEED, gaps=None, rest=None, states=None, refused={"absurd": 3})
    text = "\n".join(lines_of(replace(GOOD, clock=None, feeds={"crypto": feed})))
    assert "resyncs" not in text
    assert "REST" not in text
    assert "refused rows: absurd 3" in text
    assert "this machine's clock" in text


def test_the_json_has_the_same_figures() -> None:
    found = msgspec.json.decode(msgspec.json.encode(GOOD))
    assert found["feeds"]["market"]["ages"]["p99"] == 240.0
    assert found["feeds"]["market"]["silences"]["lateHeartbeats"] == 0
    assert found["clock"] == {"offset": -2.5, "roundTrip": 1.0}
    assert found["broken"] == []


def test_the_updates_of_an_upstream_are_measured() -> None:
    """Quotes that an upstream no longer lists are gone."""
    watched = UpstreamAudit(moment(0))
    first, second = (replace(stock(ticker), timestamp=iso(0)) for ticker in ("AAPL", "MSFT"))
    watched.take(Update([first, second]), moment(1))
    watched.take(Update([replace(first, timestamp=iso(2.9))]), moment(3))
    watched.take(Update([replace(first, timestamp=iso(2.5))]), moment(9))
    watched.take(Update([first], complete=True), moment(9.5))
    report = watched.report({"absurd": 1}, moment(10))
    assert (report.messages, report.quotes, report.symbols) == (4, 5, 1)
    assert report.silences.frame == 6.0
    assert report.backwards.timestamps == 2
    assert report.ages.max == pytest.approx(9500, abs=1)
    assert report.refused == {"absurd": 1}
    assert report.gaps is None


def test_a_vendor_without_quotes_is_refused() -> None:
    for name in ("finnhub", "nobody"):
        with pytest.raises(SettingsError, match="binance"):
            providers_of(name, loading.load({}))


def test_a_vendor_needs_its_key() -> None:
    with pytest.raises(SettingsError, match="QUOTECAST_ALPACA_KEY"):
        providers_of("alpaca", loading.load({}))


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["ws://a/api/ws/market", "--vendor", "binance"],
        ["http://a"],
        ["--vendor", "nobody"],
        ["ws://a/api/ws", "--seconds", "0"],
        ["ws://a/api/ws", "--seconds", "nan"],
        ["ws://a/api/ws", "--check-every", "-1"],
        ["ws://a/api/ws", "--max-age-p99", "nan"],
        ["ws://a/api/ws", "--max-gaps", "-1"],
    ],
)
def test_wrong_arguments_are_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 2."""
    assert __main__.main(["audit", *arguments]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_name: str) -> None:
        raise ModuleNotFoundError(name="quotecast_client")

    arguments = __main__.parser().parse_args(["audit", "ws://a/api/ws"])
    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(SettingsError, match=r"pip install 'quotecast\[watch\]'"):
        audit.run(loading.load({}), arguments)


def test_the_services_own_figures_are_beside_those_that_were_measured() -> None:
    report = with_feed(day=DayReport(110.5, 1216.0, 4.0, {"absurd": 2, "halted": 1}))
    rows = {line[:30].rstrip(): line[30:].strip() for line in lines_of(report)}
    own = {label.removeprefix("service's day: "): value for label, value in rows.items() if "day" in label}
    assert own == {"age p50 (ms)": "110.5", "age p99 (ms)": "1,216", "stale (s)": "4", "refused": "3"}
    assert msgspec.json.decode(msgspec.json.encode(report))["feeds"]["market"]["day"] == {
        "ageP50Ms": 110.5,
        "ageP99Ms": 1216.0,
        "staleSeconds": 4.0,
        "refused": {"absurd": 2, "halted": 1},
    }
    assert not any("service's day" in line for line in lines_of(GOOD))
