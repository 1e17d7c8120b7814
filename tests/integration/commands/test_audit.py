"""`quotecast audit` as a process: against a real service, a misbehaving feed, and a vendor's adapter."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fakes.coinbase import FakeCoinbase, ScriptMessage, read_recording
from integration.commands.misbehaving_feed import Frame, MisbehavingFeed
from support.made.audit_frames import EPOCH, START, heartbeat, quote, snapshot, subscribed, update, welcome
from support.runs.deadlines import scaled, slowness
from support.servers.processes import running_valkey
from support.servers.reserved import port_number, reserve_port
from support.servers.service import Service

pytestmark = pytest.mark.slow

#: For quotes that are old on purpose.
LENIENT = ("--max-age-p99", "1e9")
#: Figures of a machine under load: only the figure of the test may break.
PATIENT = ("--max-age-p99", "60000", "--max-silence", "600")
RECORDING = Path(__file__).parents[1] / "recordings" / "coinbase.ndjson"


def launch(*arguments: str, **environment: str) -> Any:
    return asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "quotecast", "audit", *arguments),
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


def lasting(seconds: float) -> str:
    """Returns the seconds that an audit lasts: up to four times as many on a slow machine."""
    return f"{seconds * min(slowness(), 4):.1f}"


async def run(*arguments: str, **environment: str) -> tuple[int, str, str]:
    """Returns the exit code, the output and the errors."""
    process = await launch(*arguments, **environment)
    out, err = await asyncio.wait_for(process.communicate(), scaled(60))
    return process.returncode, out.decode(), err.decode()


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """Runs an ingest and a worker with a simulated market."""
    with running_valkey() as redis, Service(redis) as running:
        running.start("ingest", "api")
        yield running


async def test_a_sound_service_breaks_nothing(service: Service) -> None:
    """All feeds have quotes, ages and equal prices in REST."""
    url = f"ws://127.0.0.1:{service.port}/api/ws?heartbeat=1"
    code, out, _ = await run(url, "--seconds", lasting(4), "--check-every", "1", "--json", *PATIENT)
    report = json.loads(out)
    assert (code, report["broken"]) == (0, [])
    assert [*report["feeds"]] == ["market", "crypto", "doviz"]
    for feed in report["feeds"].values():
        assert feed["quotes"]
        assert 0 <= feed["ages"]["p50"] <= feed["ages"]["p99"] <= feed["ages"]["max"]
        assert feed["rest"]["compared"]
        assert feed["gaps"] == {"sequence": 0, "epochs": 0, "resyncs": 0}
        assert [state["state"] for state in feed["states"]] == ["live"]
    assert abs(report["clock"]["offset"]) < 1000


async def test_the_table_has_the_same_figures(service: Service) -> None:
    url = f"ws://127.0.0.1:{service.port}/api/ws/crypto?symbols=BTC-USDT,XXXX"
    code, out, err = await run(url, "--seconds", lasting(2), *PATIENT)
    assert code == 0, out
    assert "age p99 (ms)" in out
    assert "unknown symbols: XXXX" in out
    assert out.endswith("All thresholds hold.\n")
    assert "Traceback" not in err


async def test_ctrl_c_reports_what_it_has(service: Service) -> None:
    process = await launch(
        f"ws://127.0.0.1:{service.port}/api/ws/market", "--seconds", "600", "--json", *PATIENT
    )
    # Progress: it watches, and has quotes.
    while b", 0 quotes" in await asyncio.wait_for(process.stderr.readline(), scaled(60)):
        pass
    process.send_signal(signal.SIGINT)
    out, err = await asyncio.wait_for(process.communicate(), scaled(60))
    assert (process.returncode, b"Traceback" in err) == (0, False)
    assert json.loads(out)["feeds"]["market"]["quotes"]


def fresh(ticker: str = "AAPL", ago: float = 0.0, price: float = 100.0) -> Frame:
    """Returns a quote whose time is that many seconds ago."""
    return quote(ticker, time.time() - START - ago, price)


def opening(*quotes: Frame, reason: str = "subscribe") -> list[Frame | None]:
    return [welcome(), subscribed(), snapshot(5, *quotes, reason=reason)]


OLD = fresh(ago=600)
NEW = fresh(ago=300)


@pytest.mark.parametrize(
    ("scripts", "rest", "options", "broken"),
    [
        ([[*opening(OLD), update(6, NEW)]], {"AAPL": NEW}, LENIENT, {}),
        ([[*opening(OLD), update(6, NEW)]], {"AAPL": NEW}, (), {"--max-age-p99": 300_000}),
        ([opening(OLD)], {"AAPL": OLD}, ("--max-silence", "0.5"), {"--max-silence": 0.5}),
        ([[*opening(OLD), heartbeat(9)]], {"AAPL": OLD}, (), {"--max-gaps": 1}),
        ([[*opening(OLD), heartbeat(1, epoch="b")]], {"AAPL": OLD}, (), {"--max-gaps": 1}),
        ([[*opening(OLD), None], opening(OLD, reason="resync")], {"AAPL": OLD}, (), {"--max-gaps": 2}),
        ([[*opening(OLD), {"type": 7}, {"type": "update"}]], {"AAPL": OLD}, (), {"--max-gaps": 1}),
        ([[*opening(NEW), update(6, OLD)]], {"AAPL": OLD}, LENIENT, {"--max-backwards": 1}),
        ([[*opening(OLD), update(4, NEW)]], {"AAPL": NEW}, LENIENT, {"--max-backwards": 1}),
        ([opening(OLD)], {"AAPL": OLD | {"price": 7.0}}, (), {"--max-disagreements": 1}),
        ([[welcome()]], {}, (), {"": 0}),
    ],
)
async def test_each_threshold_can_break(
    scripts: Sequence[Sequence[Frame | None]],
    rest: dict[str, Frame],
    options: tuple[str, ...],
    broken: dict[str, float],
) -> None:
    """Exit code 1 and the figure; what a test does not break holds."""
    async with MisbehavingFeed(*scripts, rest=rest) as feed:
        code, out, err = await run(feed.url, "--seconds", "3", "--check-every", "1", "--json", *options)
    report = json.loads(out)
    found = {each["option"]: each["value"] for each in report["broken"]}
    assert (code, set(found)) == (1 if broken else 0, set(broken)), err
    assert all(found[option] >= least for option, least in broken.items())


async def test_it_resumes_with_its_cursor() -> None:
    async with MisbehavingFeed(
        [*opening(OLD), update(6, NEW), None], [welcome(), snapshot(6, reason="resume")]
    ) as feed:
        code, out, _ = await run(
            feed.url, "--seconds", "3", "--max-gaps", "1", "--max-age-p99", "1e9", "--json"
        )
    report = json.loads(out)
    assert (code, report["reconnects"]) == (0, 1)
    assert feed.connections == ["symbols=all", f"symbols=all&since={EPOCH}-6"]
    assert report["restFailures"] > 0


async def test_the_clock_of_the_service_corrects_the_ages() -> None:
    """By our clock the quote is an hour from the future."""
    ahead = fresh(ago=-3600)
    async with MisbehavingFeed([*opening(OLD), update(6, ahead)], rest={"AAPL": ahead}, offset=3600) as feed:
        code, out, _ = await run(feed.url, "--seconds", "2", "--json", *PATIENT)
    report = json.loads(out)
    assert (code, report["feeds"]["market"]["ages"]["ahead"]) == (0, 0)
    assert report["clock"]["offset"] == pytest.approx(3_600_000, abs=60_000)
    assert report["feeds"]["market"]["ages"]["max"] < 60_000


@pytest.mark.parametrize("is_readable", [True, False])
async def test_the_services_own_day_is_in_the_report(*, is_readable: bool) -> None:
    figures = {"ageP50Ms": 60.2, "ageP99Ms": 955.6, "staleSeconds": 1.5, "refused": {"absurd": 2}}
    # All of REST has one answer: as one of quotes it is that of another symbol.
    rest = {"figures": {"ticker": "MSFT", "updates": 5, **(figures if is_readable else {})}}
    async with MisbehavingFeed([*opening(OLD), update(6, NEW)], rest=rest) as feed:
        _, out, _ = await run(feed.url, "--seconds", "2", "--json", *LENIENT)
    assert json.loads(out)["feeds"]["market"]["day"] == (figures if is_readable else None)
    asked = [path for path in feed.requests if path.startswith("/api/quality")]
    assert asked == ["/api/quality?feed=market&symbol=AAPL"], "the whole feed would be counted without one"


async def test_a_service_that_is_not_there_is_one_line() -> None:
    with closing(reserve_port()) as reserved:  # bound, and not listening
        url = f"ws://127.0.0.1:{port_number(reserved)}/api/ws/market"
        code, out, err = await run(url, "--seconds", "2")
    assert (code, out) == (1, "")
    assert err.startswith(f"quotecast: Cannot watch {url}: ")
    assert len(err.splitlines()) == 1


async def test_a_refused_feed_is_one_line() -> None:
    error = {"type": "error", "code": 404, "detail": "This service has no provider for the feed market"}
    async with MisbehavingFeed([error]) as feed:
        code, _, err = await run(feed.url, "--seconds", "60")
    assert (code, len(err.splitlines())) == (1, 1)
    assert "no provider" in err


async def test_a_vendor_is_watched_through_its_adapter() -> None:
    """The rows that the adapter refuses are in the report."""
    async with FakeCoinbase([{"id": product} for product in ("BTC-USD", "ETH-EUR", "NEW-GBP")]) as fake:
        fake.script = [ScriptMessage(said.text) for said in read_recording(RECORDING)]
        fake.heartbeat_seconds = 0.02
        urls = {"QUOTECAST_COINBASE_URL": fake.url, "QUOTECAST_COINBASE_WEBSOCKET_URL": fake.websocket_url}
        code, out, err = await run(
            *("--vendor", "coinbase", "--seconds", "3", "--json", "--max-age-p99", "1e15"), **urls
        )
    report = json.loads(out)
    assert code == 0, err
    assert (report["source"], report["clock"], [*report["feeds"]]) == ("coinbase", None, ["crypto"])
    assert report["feeds"]["crypto"]["quotes"]
    assert report["feeds"]["crypto"]["symbols"] == 3


async def test_a_vendor_that_is_not_there_breaks_a_threshold() -> None:
    code, out, _ = await run(
        "--vendor", "coinbase", "--seconds", "2", QUOTECAST_COINBASE_URL="http://127.0.0.1:1"
    )
    assert code == 1
    assert "no quote came" in out
