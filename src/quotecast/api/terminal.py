"""A user's terminal."""

from typing import Final

from litestar import Router
from msgspec import Struct

BODIES: Final[tuple[type[Struct], ...]] = ()

ROUTER: Final = Router("/api/terminal", route_handlers=[], tags=["Terminal"], opt={"limit": "terminal"})
