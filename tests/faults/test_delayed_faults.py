"""Delayed feeds under faults, as real processes: no quote is early, and each feed goes on."""

import pytest

from faults import delayed_chaos


@pytest.mark.timeout(600)
def test_no_delayed_quote_is_early() -> None:
    """`python -m faults.delayed_chaos` is the same with ten million deliveries."""
    lines: list[str] = []
    judge = delayed_chaos.run(1, 60_000, lines.append, clients=12)
    assert judge.leaks == []
    assert judge.deliveries >= 60_000
