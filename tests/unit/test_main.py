"""The command line."""

import os
import subprocess
import sys
from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterator

import pytest

from quotecast import __main__
from quotecast.errors import QuotecastError

COMMANDS = [
    "up",
    "api",
    "ingest",
    "migrate",
    "record",
    "history",
    "users",
    "watch",
    "audit",
    "mcp",
    "doctor",
]

#: What a command cannot do without.
ACTIONS = {
    "users": ["list"],
    "history": ["list"],
    "watch": ["AAPL"],
    "audit": ["ws://127.0.0.1:8000/api/ws"],
    "record": ["binance", "recording.ndjson"],
}


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


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[Namespace]:
    """Returns the arguments of the commands that the test gives, which do not run."""
    arguments: list[Namespace] = []

    def run(parsed: Namespace) -> int:
        arguments.append(parsed)
        return 0

    monkeypatch.setattr(__main__, "_run", run)
    return arguments


def test_up_takes_scenarios(given: list[Namespace]) -> None:
    assert __main__.main(["up", "--scenario", "open-burst", "--live", "--scenario", "drop@+5,every=2"]) == 0
    assert __main__.main(["up"]) == 0
    assert [each.scenario for each in given] == [["open-burst", "drop@+5,every=2"], []]


def test_up_takes_a_number_of_workers(given: list[Namespace], capsys: pytest.CaptureFixture[str]) -> None:
    assert __main__.main(["up", "--workers", "4", "--no-build"]) == 0
    assert __main__.main(["up"]) == 0
    assert [(each.workers, each.build) for each in given] == [(4, False), (None, True)]
    for wrong in ("0", "257", "-1", "two"):
        with pytest.raises(SystemExit, match="2"):
            __main__.main(["up", "--workers", wrong])
        assert capsys.readouterr().err.endswith("must be a whole number from 1 to 256\n")


def test_a_wrong_scenario_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither `up` with the option nor any command with the setting starts."""
    assert __main__.main(["up", "--scenario", "haltt"]) == 2
    monkeypatch.setenv("QUOTECAST_SIMULATOR_SCENARIO", "halt@noon")
    assert __main__.main(["doctor"]) == 2
    option, setting = capsys.readouterr().err.splitlines()
    assert option.startswith("--scenario: there is no scenario 'haltt'; known are ")
    assert setting.startswith("QUOTECAST_SIMULATOR_SCENARIO: halt: at 'noon' is not a start")


def commands_of(parser: ArgumentParser) -> Iterator[ArgumentParser]:
    """Yields a parser with those of its commands and their actions."""
    yield parser
    for action in parser._actions:
        for command in action.choices.values() if isinstance(action, _SubParsersAction) else ():
            yield from commands_of(command)


@pytest.mark.parametrize("parser", [*commands_of(__main__.parser())], ids=lambda parser: parser.prog)
def test_every_command_and_option_says_what_it_is_for(parser: ArgumentParser) -> None:
    """In the help of the command, and in that of the one above it."""
    assert parser.description
    for action in parser._actions:
        assert action.help or isinstance(action, _SubParsersAction), action.dest
        if isinstance(action, _SubParsersAction):
            described = {each.dest for each in action._choices_actions if each.help}
            assert described == action.choices.keys()


@pytest.mark.parametrize(
    "command",
    [
        *("users list", "keys list", "keys usage", "plans list", "plans show", "operators list"),
        *("operators log", "history list", "doctor", "watch", "audit", "simulate"),
    ],
)
def test_output_that_is_data_can_be_json(command: str) -> None:
    """Scripts read it by field, and not by column."""
    [parser] = [each for each in commands_of(__main__.parser()) if each.prog == f"quotecast {command}"]
    assert "--json" in parser._option_string_actions


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
    ("modules", "needed"),
    [
        ("quotecast.__main__, quotecast.local.up", ""),
        # They run transactions as accounts do, for a tenth of a second.
        ("quotecast.commands.doctor, quotecast.commands.keys, quotecast.commands.operators", "piccolo"),
    ],
)
def test_commands_do_not_load_the_web_framework(modules: str, needed: str) -> None:
    """The framework would delay each start by a second, and they do not use it."""
    program = (
        f"import {modules}, sys; print(*sorted({{'litestar', 'granian', 'piccolo'}} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == needed


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, ["QUOTECAST_ORIGIN: name an installation", "QUOTECAST_ORIGIN_SECRET: give"]),
        ({"QUOTECAST_ORIGIN": "wss://q.example.com"}, ["QUOTECAST_ORIGIN_SECRET: give"]),
        (
            {"QUOTECAST_ORIGIN": "https://q.example.com"},
            ["QUOTECAST_ORIGIN: must begin with wss:// or ws://"],
        ),
        ({"QUOTECAST_ORIGIN_SECRET": "Schlüssel"}, ["QUOTECAST_ORIGIN_SECRET: must have visible ASCII"]),
        ({"QUOTECAST_RELAY_SECRET": "short"}, ["QUOTECAST_RELAY_SECRET: at least 32 bytes"]),
    ],
)
def test_an_edge_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: dict[str, str],
    named: list[str],
) -> None:
    """An edge without an origin or its secret ends with 2, and names the settings but no secret."""
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert __main__.main(["edge"]) == 2
    told = capsys.readouterr().err
    assert [text for text in named if text not in told] == []
    assert "Schlüssel" not in told
    assert "short" not in told


def test_an_edge_takes_its_origin_from_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The argument goes before QUOTECAST_ORIGIN, and is checked as that is."""
    monkeypatch.setenv("QUOTECAST_ORIGIN_SECRET", "s" * 32)
    for wrong in ("quotes.example.com", "wss://quotes.example.com/api", "https://q.example.com"):
        assert __main__.main(["edge", wrong]) == 2
        assert "wss:// or ws://" in capsys.readouterr().err


def test_a_reader_that_leaves_ends_a_command_in_silence() -> None:
    """As `head` does after its lines."""
    command = [sys.executable, "-m", "quotecast", "vapid"]
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (1, b"")
