"""`quotecast completion`: what a shell proposes after the Tab key."""

import shlex
import subprocess

import pytest

from quotecast import __main__

#: Command lines, and what bash proposes for their last word.
LINES = {
    "quotecast mi": ["migrate"],
    "quotecast keys re": ["revoke"],
    "quotecast users list --": ["--help", "--json"],
    "quotecast simulate k": ["kraken"],
    "quotecast simulate kraken --sp": ["--speed"],
    "quotecast history export --feed cr": ["crypto"],
    "quotecast history export --feed crypto --fo": ["--format"],
    "quotecast watch AAPL --interval 5": ["500", "5000"],
    "quotecast history export --output ": [],
    "quotecast --v": ["--version"],
}


@pytest.fixture
def script(capsys: pytest.CaptureFixture[str]) -> str:
    assert __main__.main(["completion", "bash"]) == 0
    return capsys.readouterr().out


def test_bash_proposes_commands_options_and_values(script: str) -> None:
    """Where a value is free, it goes on with the names of files."""
    program = [script]
    for line in LINES:
        words = [*shlex.split(line), *([""] if line.endswith(" ") else [])]
        program.append(f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _quotecast")
        program.append('echo "${COMPREPLY[*]}"')
    done = subprocess.run(["bash", "-c", "\n".join(program)], capture_output=True, text=True, check=True)  # noqa: S607 - our own script
    assert done.stderr == ""
    assert dict(zip(LINES, map(str.split, done.stdout.splitlines()), strict=True)) == LINES


def test_zsh_reads_the_same_script(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By its emulation of bash's completion."""
    assert __main__.main(["completion", "zsh"]) == 0
    assert capsys.readouterr().out == f"autoload -U +X bashcompinit && bashcompinit\n{script}"


def test_it_needs_no_settings(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A shell reads it at its start, whatever the variables are."""
    monkeypatch.setenv("QUOTECAST_MODE", "production")
    monkeypatch.setenv("QUOTECAST_PORT", "none")
    assert __main__.main(["completion", "bash"]) == 0
    assert script
