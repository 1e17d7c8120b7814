"""A user's watchlist."""

from typing import Final

from litestar import Router
from msgspec import Struct

BODIES: Final[tuple[type[Struct], ...]] = ()

ROUTER: Final = Router("/api/watchlist", route_handlers=[], tags=["Watchlist"], opt={"limit": "watchlist"})
