"""Account routes are private by their declaration, in any folder."""

from litestar import get
from litestar.params import FromPath

from quotecast.api.app import build_app
from quotecast.api.private import private_prefixes
from quotecast.api.reference.account_operations import SECURED
from support.factories import client_of, empty_mirrors, services


@get("/api/market/alerts/{number:int}", security=SECURED)
async def alerts(number: FromPath[int]) -> str:
    """A secured route outside the folders of account routes."""
    return f"alert {number}"


def test_private_paths_are_those_of_account_routes() -> None:
    """Login and register ask for no token, but what they answer is one user's."""
    assert private_prefixes(build_app(services(empty_mirrors()))) == (
        "/api/auth/login",
        "/api/auth/profile",
        "/api/auth/register",
        "/api/portfolio/holdings",
        "/api/terminal/layout",
        "/api/watchlist",
    )


async def test_a_new_secured_route_is_private_by_its_own_declaration() -> None:
    """No cache stores its answers, and pages of other origins cannot read them."""
    async with client_of(services(empty_mirrors()), extra_handlers=[alerts]) as client:
        private = await client.get("/api/market/alerts/1", headers={"origin": "https://other.test"})
        public = await client.get("/api/health", headers={"origin": "https://other.test"})
    assert private.text == "alert 1"
    assert private.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in private.headers
    assert public.headers["access-control-allow-origin"] == "*"
