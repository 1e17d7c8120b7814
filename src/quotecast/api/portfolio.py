"""A user's portfolio."""

from typing import Final

from litestar import Router
from msgspec import Struct

BODIES: Final[tuple[type[Struct], ...]] = ()

ROUTER: Final = Router("/api/portfolio", route_handlers=[], tags=["Portfolio"], opt={"limit": "portfolio"})
