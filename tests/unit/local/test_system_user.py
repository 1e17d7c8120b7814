"""PostgreSQL's system user, where root starts several services at once."""

import os
import pwd
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quotecast.local import postgres

PROCESSES = 8


def test_only_one_of_many_starts_makes_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    users = tmp_path / "users"
    program = tmp_path / "useradd"
    program.write_text(f'#!/bin/sh\necho "$@" >> {users}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    myself = pwd.getpwuid(os.getuid())
    together = threading.Barrier(PROCESSES)

    def getpwnam(name: str) -> pwd.struct_passwd:
        if not users.exists():
            raise KeyError(name)
        return myself

    def start(_: int) -> str | None:
        together.wait()
        return postgres.system_user()

    monkeypatch.setattr(pwd, "getpwnam", getpwnam)
    with ThreadPoolExecutor(PROCESSES) as threads:
        names = set(threads.map(start, range(PROCESSES)))

    assert names == {"quotecast-postgres"}
    assert len(users.read_text().splitlines()) == 1
