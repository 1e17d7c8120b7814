"""deploy/haproxy/edge.cfg routes feeds to their port."""

import json

import httpx
import pytest
from websockets.sync.client import connect

from deploy.balancer import running_balancer
from support.clients.plain_http import status_of_length
from support.runs.deadlines import scaled
from support.servers.processes import Valkey
from support.servers.service import Service


@pytest.mark.deploy
def test_operators_page_is_not_published(own_valkey: Valkey) -> None:
    """The balancer answers 404 to every spelling of its paths, and passes others on."""
    with (
        Service(own_valkey, {"QUOTECAST_ADMIN": "on"}, split=True) as service,
        running_balancer([service]) as balancer,
    ):
        service.start("ingest", "api")
        balancer.await_in_service([service])
        assert service.get("/api/admin/overview").status_code == 401
        url = f"http://127.0.0.1:{balancer.port}"
        for path in ("/admin", "/api/admin/overview", "//api//admin/users", "/api/%61dmin/keys"):
            assert httpx.get(url + path).status_code == 404, path
        assert httpx.get(f"{url}/api/health").status_code == 200


@pytest.mark.deploy
def test_a_file_of_csv_may_be_larger_than_other_bodies(own_valkey: Valkey) -> None:
    with Service(own_valkey, split=True) as service, running_balancer([service]) as balancer:
        service.start("ingest", "api")
        balancer.await_in_service([service])
        for path in ("/api/portfolio/import", "/api/portfolio/transactions/import"):
            url = f"http://127.0.0.1:{balancer.port}{path}"
            assert httpx.post(url, content=b"x" * 200_000).status_code == 401
            assert status_of_length(balancer.port, path, 1_100_000) == 413
        assert status_of_length(balancer.port, "/api/watchlist", 90_000) == 413


@pytest.mark.deploy
def test_all_feeds_have_the_port_of_feeds(own_valkey: Valkey) -> None:
    """A page that has sent HTTP through a balancer opens the socket of all feeds, and that of one."""
    with Service(own_valkey, split=True) as service, running_balancer([service]) as balancer:
        service.start("ingest", "api")
        balancer.await_in_service([service])
        for path in ("/api/ws", "/api/ws/market"):
            with connect(f"ws://127.0.0.1:{balancer.port}{path}") as feed:
                assert json.loads(feed.recv(timeout=scaled(10)))["type"] == "welcome"
        assert balancer.sessions("feeds") == 2
