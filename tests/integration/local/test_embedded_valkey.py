"""The Valkey that `up` starts."""

import contextlib
import os
import signal
from pathlib import Path

import pytest
import redis

from quotecast.local import servers
from support.runs.waits import until


async def test_a_damaged_dump_keeps_it_from_no_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither before `up` nor while it runs."""
    dump = tmp_path / "valkey" / "dump.rdb"
    dump.parent.mkdir()
    dump.write_bytes(b"REDIS0011 damaged")
    async with servers.cache("", tmp_path, tmp_path) as url:
        with redis.Redis.from_url(url) as client:
            first = client.info("server")["process_id"]
            dump.write_bytes(b"REDIS0011 damaged again")
            os.kill(first, signal.SIGKILL)
            await until(lambda: _process_of(client) not in {None, first})
            assert client.dbsize() == 0
    assert not dump.exists()
    assert dump.with_suffix(".unused").read_bytes() == b"REDIS0011 damaged again"
    assert capsys.readouterr().out.count("dump.unused") == 2


def _process_of(client: redis.Redis) -> int | None:
    with contextlib.suppress(redis.RedisError):
        return int(client.info("server")["process_id"])
    return None
