"""Rate-limit checks, which every limited request passes."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from quotecast.limits.fallback import LocalWindow
from quotecast.limits.window import Window
from support.servers.processes import running_valkey

LIMIT = 1_000_000


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    with running_valkey() as valkey:
        yield valkey.url


@pytest.mark.parametrize("count", [1, 10, 100])
def test_checks_that_arrive_together(benchmark: Any, redis_url: str, count: int) -> None:
    """One call of the script, in a separate Valkey process."""
    with asyncio.Runner() as runner:
        window = Window(redis_url, prefix=f"bench{count}", budget=5.0)
        runner.run(window.__aenter__())

        async def together() -> list[Any]:
            return await asyncio.gather(*(window.check(f"client {number}", LIMIT) for number in range(count)))

        decisions = benchmark(lambda: runner.run(together()))
        runner.run(window.__aexit__())
    assert all(decision.admitted for decision in decisions)
    assert len(decisions) == count


def test_check_while_redis_is_away(benchmark: Any) -> None:
    """This worker decides alone."""
    window = LocalWindow(60)
    assert benchmark(window.check, "client", LIMIT).admitted
