"""Plain HTTP requests for the feeds' paths: 426, because a feed is a WebSocket."""

from typing import Final

from litestar import Router, get

from quotecast.errors import UpgradeRequired
from quotecast.market.feeds import Feed


@get(
    ["/", *(f"/{part}{feed.spec.name}" for part in ("", "openbb/") for feed in Feed)],
    sync_to_thread=False,
    include_in_schema=False,
)
def ask_for_upgrade() -> None:
    """Raises UpgradeRequired."""
    raise UpgradeRequired


ROUTER: Final = Router("/api/ws", route_handlers=[ask_for_upgrade], opt={"feed": None})
