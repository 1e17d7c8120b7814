"""What the routes of alerts need beside the accounts."""

import asyncio
from typing import Final

from msgspec import Struct, field

from quotecast.alerts.outbound import Outbound
from quotecast.api.accounts.alert_waits import Waits

#: Tries of webhooks at once on a worker.
MAX_TRIALS: Final = 4


class Alerts(Struct, frozen=True, kw_only=True):
    """The bounds and parts of the alerts' routes."""

    per_user: int
    outbound: Outbound
    #: The key that browsers want at a subscription; None without Web Push.
    public_key: str | None
    waits: Waits = field(default_factory=Waits)
    trials: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_TRIALS))
