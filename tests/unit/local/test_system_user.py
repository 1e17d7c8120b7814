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
    """All starts return with both user and group, which one `useradd` makes one after the other."""
    etc = tmp_path / "etc"
    etc.mkdir()
    users, group = etc / "passwd", etc / "group"
    program = tmp_path / "useradd"
    # The pause gives a start that does not wait the time to return without a group.
    program.write_text(f'#!/bin/sh\necho "$@" >> {users}\nsleep 0.2\necho "$@" >> {group}\n')
    program.chmod(0o755)
    monkeypatch.setattr(postgres, "_LOCKED", etc)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    myself = pwd.getpwuid(os.getuid())
    together = threading.Barrier(PROCESSES)

    def getpwnam(name: str) -> pwd.struct_passwd:
        if not users.exists():
            raise KeyError(name)
        return myself

    def start(_: int) -> tuple[str | None, bool]:
        together.wait()
        return postgres.system_user(), group.exists()

    monkeypatch.setattr(pwd, "getpwnam", getpwnam)
    with ThreadPoolExecutor(PROCESSES) as threads:
        names = set(threads.map(start, range(PROCESSES)))

    assert names == {("quotecast-postgres", True)}
    assert len(users.read_text().splitlines()) == 1
