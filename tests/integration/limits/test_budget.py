"""Call quotas of upstreams, on a real Valkey."""

import pytest

from quotecast.errors import UpstreamError
from quotecast.limits.budget import budget
from quotecast.limits.window import Window
from support.made.windows import PATIENCE

pytestmark = pytest.mark.usefixtures("patient_redis")


async def test_all_workers_share_one_quota(redis_url: str) -> None:
    """One call too many raises UpstreamError with the seconds until the next."""
    async with (
        Window(redis_url, prefix="t", budget=PATIENCE) as one,
        Window(redis_url, prefix="t", budget=PATIENCE) as other,
    ):
        for window in (one, other, one):
            await budget(window.check, "acme", 3)()
        with pytest.raises(UpstreamError, match="acme") as raised:
            await budget(other.check, "acme", 3)()
        assert raised.value.retry_after == 60
        await budget(other.check, "other", 3)()
