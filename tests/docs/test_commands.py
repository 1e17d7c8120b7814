"""The commands and programs of README.md and of the pages work with a running service."""

import argparse
import asyncio
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from docs.pages import README, blocks, curls, page
from quotecast.accounts import migrations
from support.servers.processes import running_postgres, running_valkey
from support.servers.service import Service

PUBLIC = [*curls(README.read_text("utf-8")), *curls(page("http")), *curls(page("quickstart"))]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """Runs an ingest and a worker with a simulated market, and PostgreSQL."""
    with running_valkey() as redis, running_postgres() as postgres:
        asyncio.run(migrations.apply(postgres.url))
        with Service(redis, {"QUOTECAST_DATABASE_URL": postgres.url}) as running:
            running.start("ingest", "api")
            yield running


def send_command(service: Service, command: str, **variables: str) -> httpx.Response:
    """Sends the request of a `curl` command, as curl would."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("-X", dest="method")
    parser.add_argument("-H", dest="headers", action="append", default=[])
    parser.add_argument("-d", dest="body")
    for name, value in variables.items():
        command = command.replace(f"${name}", value)
    given = parser.parse_args(shlex.split(command, comments=True)[1:])
    assert given.url.startswith("127.0.0.1:8000/")
    headers = dict(header.split(": ", 1) for header in given.headers)
    if given.body is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    return httpx.request(
        given.method or ("GET" if given.body is None else "POST"),
        service.url + given.url.removeprefix("127.0.0.1:8000"),
        headers=headers,
        content=given.body,
        timeout=30,
    )


def names(value: Any) -> set[str]:
    """Returns the names of all fields, at any depth."""
    match value:
        case dict():
            return {*value}.union(*map(names, value.values()))
        case list():
            return set().union(*map(names, value))
        case _:
            return set()


def shown_names(answer: str) -> set[str]:
    """Returns the field names in an answer of a page."""
    return set(re.findall(r'"([\w-]+)":', answer))


@pytest.mark.parametrize(("command", "answer"), PUBLIC)
def test_a_command_gets_the_answer_below_it(service: Service, command: str, answer: str) -> None:
    """A command gets status 200 and the field names of the answer below it; values differ."""
    response = send_command(service, command)
    assert response.status_code == 200
    assert shown_names(answer) <= names(response.json())


def test_the_commands_of_an_account_follow_each_other(service: Service) -> None:
    """The commands of docs/accounts.md work in order, with the token of the first answer."""
    (register, registered), *others = curls(page("accounts"))
    response = send_command(service, register)
    assert response.is_success
    assert shown_names(registered) <= names(response.json())
    token = response.json()["token"]
    assert len(others) == 5
    for command, answer in others:
        response = send_command(service, command, token=token)
        assert response.is_success, (command, response.text)
        assert shown_names(answer) <= names(response.json()), command


def test_the_program_of_the_readme_follows_a_feed(service: Service, tmp_path: Path) -> None:
    """The README's program prints frames, updates among them."""
    [program] = blocks(README.read_text("utf-8"), "python")
    path = tmp_path / "first.py"
    path.write_text(program.replace("127.0.0.1:8000", f"127.0.0.1:{service.port}"), "utf-8")
    command = [sys.executable, "-u", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    lines: list[str] = []
    try:
        assert process.stdout
        for line in process.stdout:
            lines.append(line)
            if line.startswith("update"):
                break
    finally:
        process.kill()
        process.communicate()
    assert [line.split()[0] for line in lines[:3]] == ["welcome", "subscribed", "snapshot"]
    assert re.search(r"^update \{'AAPL': [\d.]+, 'MSFT': [\d.]+\}", lines[-1])


def test_the_program_of_event_streams_follows_a_feed(service: Service, tmp_path: Path) -> None:
    """The program of docs/sse.md prints prices."""
    [program] = blocks(page("sse"), "python")
    path = tmp_path / "stream.py"
    path.write_text(program.replace("127.0.0.1:8000", f"127.0.0.1:{service.port}"), "utf-8")
    command = [sys.executable, "-u", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        line = process.stdout.readline()
        process.kill()
    assert re.match(r"\{'AAPL': [\d.]+, 'MSFT': [\d.]+\}", line)
