"""The command line."""

import subprocess
import sys
from argparse import Namespace

import pytest

from quotecast import __main__
from quotecast.errors import QuotecastError

COMMANDS = ["up", "api", "ingest", "migrate", "record", "history", "users", "doctor"]

#: What a command cannot do without.
ACTIONS = {"users": ["list"], "history": ["list"], "record": ["binance", "recording.ndjson"]}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Records the entry points instead of running them."""
    entries: list[str] = []

    def run(given: Namespace) -> int:
        entries.append(given.entry)
        return 0

    monkeypatch.setattr(__main__, "_run", run)
    return entries


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_runs_its_function(runs: list[str], command: str) -> None:
    """Each command runs the entry point of its name."""
    assert __main__.main([command, *ACTIONS.get(command, [])]) == 0
    [entry] = runs
    module, function = entry.split(":")
    assert command in module.split(".")
    assert function == "run"


def test_a_migration_can_be_undone(runs: list[str]) -> None:
    """An undo needs an explicit option."""
    assert __main__.main(["migrate", "--undo"]) == 0
    assert runs == ["quotecast.commands.migrate:undo"]


def test_up_can_be_live(runs: list[str]) -> None:
    """Real upstreams need an explicit option."""
    assert __main__.main(["up", "--live"]) == 0
    assert runs == ["quotecast.local.up:live"]


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """The help names the command that shows settings."""
    with pytest.raises(SystemExit, match="0"):
        __main__.main(["--help"])
    said = capsys.readouterr().out
    assert all(f"\n    {command} " in said for command in COMMANDS)
    assert "quotecast doctor" in said


@pytest.mark.parametrize("arguments", [[], ["down"], ["up", "--fast"], ["users"], ["users", "disable"]])
def test_a_command_line_that_cannot_be_read_is_refused(arguments: list[str]) -> None:
    """The exit code is argparse's."""
    with pytest.raises(SystemExit, match="2"):
        __main__.main(arguments)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_problem_of_the_settings_is_one_line(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command checks settings first; the exit code is 2."""
    monkeypatch.setenv("QUOTECAST_PORT", "many")
    monkeypatch.setenv("QUOTECAST_WORKER", "2")
    assert __main__.main([command, *ACTIONS.get(command, [])]) == 2
    [unknown, port] = capsys.readouterr().err.splitlines()
    assert unknown == "QUOTECAST_WORKER: there is no such setting; did you mean QUOTECAST_WORKERS?"
    assert port.startswith("QUOTECAST_PORT: ")


def test_a_failure_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An expected error prints one line without a stack trace; the exit code is 1."""

    def fail(_given: Namespace) -> int:
        raise QuotecastError("Redis is away")

    monkeypatch.setattr(__main__, "_run", fail)
    assert __main__.main(["ingest"]) == 1
    assert capsys.readouterr().err == "quotecast: Redis is away\n"


@pytest.mark.parametrize(
    ("module", "needed"),
    [
        ("quotecast.__main__", ""),
        ("quotecast.local.up", ""),
        # It runs transactions as accounts do, for a tenth of a second.
        ("quotecast.commands.doctor", "piccolo"),
    ],
)
def test_the_starter_does_not_load_the_web_framework(module: str, needed: str) -> None:
    """The framework would delay each start by a second, and `up` does not use it."""
    program = f"import {module}, sys; print(*sorted({{'litestar', 'granian', 'piccolo'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == needed
