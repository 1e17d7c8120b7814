"""Every block of code of every page runs, in order and as a reader would type it, or says why it does not.

A comment `<!-- not run: REASON -->` above a block is for those that cannot run here.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import yaml  # type: ignore[import-untyped]  # it has no types

from docs.pages import DOCS, README, ROOT
from support.runs.deadlines import scaled
from support.servers.running_up import Up, running_up

#: Blocks that a test of their own runs, by page and language.
ELSEWHERE: Final[Mapping[tuple[str, str], str]] = {
    ("README", "bash"): "tests/deploy/test_first_run.py",
    ("quickstart", "bash"): "tests/deploy/test_first_run.py",
    ("quickstart", "js"): "tests/browser/test_quickstart.py",
    ("quickstart", "ts"): "tests/browser/test_quickstart.py",
    ("feeds", "python"): "tests/docs/test_feeds_page.py",
    ("mcp", "python"): "tests/doors/test_mcp.py",
    ("openbb", "python"): "tests/doors/test_openbb.py",
    ("sse", "js"): "tests/browser/test_event_streams.py",
    ("tradingview", "html"): "tests/browser/test_tradingview.py",
    ("tradingview", "js"): "tests/browser/test_tradingview.py",
    ("typescript", "bash"): "tests/browser/test_client_package.py",
    ("typescript", "js"): "tests/browser/test_feed_clients.py",
    ("typescript", "ts"): "tests/browser/test_client_package.py",
    ("typescript", "tsx"): "tests/browser/test_client_package.py",
}
_BLOCK: Final = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n\n?)?```(?P<language>\w*)\n(?P<body>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_SHELL: Final = frozenset({"console", "bash", "sh"})
#: Lines that a program prints which follows a feed, or its seconds after the first one, until it is believed.
_ENOUGH_LINES: Final = 5
_WHILE: Final = 10.0
#: Between the outputs of two commands.
_BETWEEN: Final = "--- next command ---"
_SECONDS: Final = 90


class Block(NamedTuple):
    """A block of a page, and why it does not run here; "" if it does."""

    page: str
    language: str
    body: str
    reason: str

    @property
    def is_shell(self) -> bool:
        return self.language in _SHELL or (not self.language and self.body.startswith("$ "))


def blocks() -> Iterator[Block]:
    for path in (README, *sorted(DOCS.glob("*.md"))):
        for found in _BLOCK.finditer(path.read_text("utf-8")):
            yield Block(path.stem, found["language"], found["body"], found["reason"] or "")


BLOCKS: Final = tuple(blocks())
RUN: Final = [
    each
    for each in BLOCKS
    if not each.reason
    and (each.page, each.language) not in ELSEWHERE
    and (each.is_shell or each.language == "python")
]
PAGES: Final = sorted({each.page for each in RUN})


@pytest.mark.parametrize(("name", "path"), ELSEWHERE.items())
def test_a_block_that_runs_elsewhere_is_named_there(name: tuple[str, str], path: str) -> None:
    bodies = [each.body for each in BLOCKS if (each.page, each.language) == name]
    assert bodies
    # Of two pages with the same block one is enough.
    readme = README.read_text("utf-8")
    assert name[0] in (ROOT / path).read_text("utf-8") or all(each in readme for each in bodies)


def test_every_language_is_known() -> None:
    """What is neither run nor parsed is text, a drawing, or the configuration of another program."""
    known = {*_SHELL, "python", "json", "toml", "yaml", "", "text", "acl", "ini", "nginx"}
    unknown = {(each.page, each.language) for each in BLOCKS if each.language not in known}
    assert unknown <= {*ELSEWHERE}


@pytest.mark.parametrize("block", [each for each in BLOCKS if each.language in {"json", "toml", "yaml"}])
def test_data_is_of_its_language(block: Block) -> None:
    """JSON is a value, or one on each line; `...` stands for more."""
    match block.language:
        case "toml":
            tomllib.loads(block.body)
        case "yaml":
            yaml.safe_load(block.body)
        case _ if "..." not in block.body:
            try:
                json.loads(block.body)
            except json.JSONDecodeError:
                for line in block.body.splitlines():
                    json.loads(line)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    # Busy, so that a program that follows a feed soon has something to print.
    with running_up(tmp_path_factory.mktemp("blocks"), workers="1", simulator_rate="1000") as running:
        yield running


@pytest.fixture(scope="module")
def data(up: Up) -> str:
    """Returns the data folder of `up`, which commands in other shells name."""
    environment = Path(f"/proc/{up.process.pid}/environ").read_bytes().split(b"\0")
    (found,) = (each for each in environment if each.startswith(b"QUOTECAST_DATA_DIR="))
    return found.decode().partition("=")[2]


class Command(NamedTuple):
    """A command of a block, and the output that the page shows below it."""

    text: str
    shown: str


def commands(block: Block) -> list[Command]:
    if not re.search(r"^\$ ", block.body, re.MULTILINE):
        return [Command(block.body, "")]
    found = []
    for part in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        count = next(number for number, line in enumerate(lines, 1) if not line.endswith(("\\", "|")))
        found.append(Command("\n".join(lines[:count]), "\n".join(lines[count:])))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_blocks_of_a_page_run_in_order(up: Up, data: str, tmp_path: Path, name: str) -> None:
    """In one shell, with one user: the output has the field names that the page shows; values differ."""
    shell = Shell(up, data, tmp_path)
    earlier = ""
    for block in (each for each in RUN if each.page == name):
        if block.language == "python":
            # A program may go on with the names of those before it.
            follow_program(shell, earlier + block.body)
            earlier += "" if is_endless(block.body) else block.body
        else:
            given = commands(block)
            outputs = shell.run(*(each.text for each in given))
            for command, output in zip(given, outputs, strict=True):
                if shown := {*re.findall(r'"([\w-]+)":', command.shown)}:
                    assert shown <= names(json.loads(output)), command.text


class Shell:
    """Runs the commands of a page; variables stay from one command to the next."""

    def __init__(self, up: Up, data: str, folder: Path) -> None:
        self.folder = folder
        self._port = up.port
        self._variables = folder / "variables"
        self._variables.write_text("")
        self._environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "QUOTECAST_DATA_DIR": data,
        }
        email = f"{folder.name}@example.com".replace("_", "-")
        self._replaced = {"127.0.0.1:8000": f"127.0.0.1:{up.port}", "ayse@example.com": email}
        self._replaced["ayse@example.net"] = email
        body = json.dumps({"name": "Ayşe", "email": email, "password": "correct horse"})
        self._register = f"curl 127.0.0.1:{up.port}/api/auth/register -d '{body}'"
        self._has_user = False

    def fit(self, text: str) -> str:
        """Returns a text with this service's address and this page's user, who exists from then on."""
        if "ayse@" in text and not self._has_user:
            self._has_user = True
            if "/api/auth/register" not in text:
                self.run(self._register)
        for given, own in self._replaced.items():
            text = text.replace(given, own)
        return text

    def run(self, *texts: str) -> list[str]:
        """Returns the output of each of some commands, which succeed."""
        script = "\n".join(
            [
                "set -eo pipefail",
                f"source {self._variables}",
                'curl() { command curl --fail-with-body --silent --show-error --max-time 30 "$@"; }',
                *(f"{self.fit(each)}\necho; echo '{_BETWEEN}'" for each in texts),
                f"declare -p token KEY 2>/dev/null >{self._variables} || true",
            ]
        )
        done = subprocess.run(
            [shutil.which("bash") or "bash", "-c", script],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=scaled(_SECONDS),
            check=False,
        )
        assert done.returncode == 0, f"{texts}\n{done.stdout}{done.stderr}"
        return done.stdout.split(_BETWEEN)[:-1]

    def environment(self) -> dict[str, str]:
        """Returns the environment of programs, with the variables of the commands before them."""
        given = dict(re.findall(r'declare -\S+ (\w+)="([^"]*)"', self._variables.read_text()))
        return {**self._environment, **given}


def names(value: Any) -> set[str]:
    """Returns the names of all fields, at any depth."""
    match value:
        case dict():
            return {*value}.union(*map(names, value.values()))
        case list():
            return set().union(*map(names, value))
        case _:
            return set()


def is_endless(program: str) -> bool:
    """Whether a program follows a feed."""
    return re.search(r"while True|for .* in .*(feed|stream|follow)", program) is not None


def follow_program(shell: Shell, program: str) -> None:
    """Runs a program until it ends well, or until it has followed a feed for a while."""
    path = shell.folder / "program.py"
    path.write_text(shell.fit(program), "utf-8")
    with subprocess.Popen(
        [sys.executable, "-u", "-W", "error", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=shell.environment(),
        cwd=shell.folder,
    ) as process:
        deadline = threading.Timer(scaled(_SECONDS), process.kill)
        enough = threading.Timer(_WHILE, process.kill)
        deadline.start()
        assert process.stdout
        assert process.stderr
        printed: list[str] = []
        for line in process.stdout:
            printed.append(line)
            if is_endless(program):
                if len(printed) == 1:
                    enough.start()
                if len(printed) == _ENOUGH_LINES:
                    process.kill()
        deadline.cancel()
        enough.cancel()
        error = process.stderr.read()
    good = {0, -signal.SIGKILL} if is_endless(program) and printed else {0}
    assert process.returncode in good, f"{program}\n{''.join(printed)}{error}"
