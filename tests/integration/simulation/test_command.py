"""`quotecast simulate` as a process: its line, its log, its errors and its end."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from quotecast import __main__
from quotecast.commands import simulate
from support.runs.deadlines import scaled
from support.servers.tiny_vendor import VENDORS

COMMAND = [sys.executable, "-m", "support.servers.tiny_vendor", "simulate"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


@contextmanager
def _running(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Runs the command; gives the process and its first line."""
    with subprocess.Popen(
        [*COMMAND, "coinbase", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as process:
        try:
            assert process.stdout
            yield process, process.stdout.readline()
        finally:
            process.kill()


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=scaled(60),
        check=False,
        env=ENVIRONMENT,
    )


def _url(line: str) -> str:
    found = re.search(r"http://[^,]+", line)
    assert found, line
    return found[0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(number: signal.Signals) -> None:
    with _running() as (process, line):
        assert httpx.get(_url(line)).status_code == 200
        process.send_signal(number)
        assert process.wait(scaled(30)) == 0
        assert process.stderr
        assert process.stderr.read() == ""


def test_the_line_says_what_it_is_and_where() -> None:
    with _running(
        "--seed", "5", "--scenario", "frozen@2026-11-20T14:30:00Z", "--start", "2026-11-20T14:00"
    ) as (
        _,
        line,
    ):
        assert re.fullmatch(
            r"simulate coinbase: REST at http://127\.0\.0\.1:\d+, streams at ws://127\.0\.0\.1:\d+, "
            r"simulated prices of seed 5; scenarios: frozen at 2026-11-20T14:30:00\.000Z\n",
            line,
        )


@pytest.mark.slow
def test_a_start_and_a_speed_set_the_market_time() -> None:
    with _running("--start", "2026-11-20T14:00:00Z", "--speed", "100") as (_, line):
        times = [httpx.get(_url(line)).json()["time"] for _ in range(20)]
    assert 1_795_183_200_000 <= times[0] < times[-1] < 1_795_183_200_000 + 86_400_000


@pytest.mark.slow
def test_a_scenario_logs_its_begin_and_end() -> None:
    with _running("--scenario", "frozen,seconds=0.5", "--start", "2026-11-20T14:00:00Z") as (process, _):
        assert process.stderr
        begins, ends = process.stderr.readline(), process.stderr.readline()
    assert re.search(r"scenario begins +at=2026-11-20T14:00:00.*frozen,seconds=0\.5", begins)
    assert re.search(r"scenario ends +at=2026-11-20T14:00:0.*frozen", ends)


@pytest.mark.slow
def test_the_control_route_starts_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("of-the-file\n")
    with _running("--control-port", "0", "--control-token-file", str(file)) as (_, line):
        found = re.search(r"control at (\S+) with token of --control-token-file", line)
        assert found
        answer = httpx.post(
            found[1], json={"name": "rate-limited"}, headers={"Authorization": "Bearer of-the-file"}
        )
        assert answer.status_code == 201
        assert httpx.get(_url(line)).status_code == 429


@pytest.mark.slow
def test_a_printed_token_opens_the_control_route() -> None:
    with _running("--control-port", "0") as (_, line):
        found = re.search(r"control at (\S+) with token (\S{32})$", line.strip())
        assert found
        assert httpx.get(found[1], headers={"Authorization": f"Bearer {found[2]}"}).status_code == 200
        assert httpx.get(found[1]).status_code == 401


@pytest.mark.slow
def test_without_the_option_there_is_no_control_route() -> None:
    with _running() as (_, line):
        assert "control" not in line


@pytest.mark.slow
def test_a_taken_port_is_one_line() -> None:
    with _running() as (_, line):
        port = _url(line).rpartition(":")[2]
        done = _run("coinbase", "--port", port)
    assert done.returncode == 2
    assert done.stderr == f"--port: cannot listen at http://127.0.0.1:{port}: Address already in use\n"


@pytest.mark.slow
def test_scenarios_are_listed() -> None:
    listed = [json.loads(line) for line in _run("--list-scenarios", "--json").stdout.splitlines()]
    assert all(each.keys() == {"name", "meaning", "parameters"} for each in listed)
    assert "halt" in {each["name"] for each in listed}
    done = _run("--list-scenarios")
    assert done.returncode == 0
    assert "open-burst: " in done.stdout
    assert "(factor=20, seconds=120)" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "simulate: name a vendor: "),
        (["coinbase", "--port", "65536"], "--port: must be from 0 to 65535"),
        (["coinbase", "--control-port", "-1"], "--control-port: must be from 0 to 65535"),
        (["coinbase", "--speed", "0"], "--speed: must be from 0.01 to 3600"),
        (["coinbase", "--speed", "nan"], "--speed: must be from 0.01 to 3600"),
        (["coinbase", "--rate", "inf"], "--rate: must be from 0.1 to 1000000"),
        (["coinbase", "--seed", str(2**63)], "--seed: must be from "),
        (["coinbase", "--start", "soon"], "--start: 'soon' is not a time such as 2026-11-20T14:25:00Z"),
        (["coinbase", "--scenario", "nope"], "--scenario: there is no scenario 'nope'; known are "),
        (["coinbase", "--scenario", "no.toml"], "--scenario: no.toml: No such file or directory"),
        (
            ["coinbase", "--scenario", "halt,symbols=AAPL+BTC-USD"],
            "--scenario: halt: symbols: there is no 'BTC-USD'; name ",
        ),
        (["coinbase", "--free-plan"], "--free-plan: only alpaca and finnhub have one"),
        (["coinbase", "--host", ""], "--host: needs an address, such as 127.0.0.1"),
        (["coinbase", "--control-host", ""], "--control-host: needs an address, such as 127.0.0.1"),
        (["coinbase", "--secret", "x"], "--secret: needs --key too"),
        (["coinbase", "--control-token-file", "none"], "--control-token-file: No such file or directory"),
        (
            ["coinbase", "--control-token-file", "/dev/null"],
            "--control-token-file: needs one token on one line",
        ),
    ],
)
def test_wrong_arguments_are_one_line(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(simulate, "VENDORS", VENDORS)
    assert __main__.main(["simulate", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith(message)
    assert said.count("\n") == 1
