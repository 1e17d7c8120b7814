"""What an upstream's plan allows, counted in a real Valkey."""

import pytest

from quotecast.errors import UpstreamError
from quotecast.limits.budget import budget
from quotecast.limits.window import Window


async def test_a_plan_is_kept_by_all_workers_together(redis_url: str) -> None:
    """A call too many is an upstream that failed, and says when the next is allowed."""
    async with Window(redis_url, prefix="t") as one, Window(redis_url, prefix="t") as other:
        for window in (one, other, one):
            await budget(window.check, "acme", 3)()
        with pytest.raises(UpstreamError, match="acme") as raised:
            await budget(other.check, "acme", 3)()
        assert raised.value.retry_after == 60
        await budget(other.check, "other", 3)()
