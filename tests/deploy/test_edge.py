"""deploy/haproxy/edge.cfg routes feeds to their port."""

import json

import pytest
from websockets.sync.client import connect

from deploy.balancer import running_balancer
from support.servers import Valkey
from support.service import Service


@pytest.mark.deploy
def test_all_feeds_have_the_port_of_feeds(own_valkey: Valkey) -> None:
    """A page that has sent HTTP through a balancer opens the socket of all feeds, and that of one."""
    with Service(own_valkey, split=True) as service, running_balancer([service]) as balancer:
        service.start("ingest", "api")
        balancer.await_in_service([service])
        for path in ("/api/ws", "/api/ws/market"):
            with connect(f"ws://127.0.0.1:{balancer.port}{path}") as feed:
                assert json.loads(feed.recv(timeout=10))["type"] == "welcome"
        assert balancer.sessions("feeds") == 2
