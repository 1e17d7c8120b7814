"""Event streams over HTTP/2 through haproxy with the configuration of deploy/haproxy."""

import json
import subprocess
from pathlib import Path

import pytest

from deploy.balancer import POLICY, running_balancer
from support.servers.processes import Valkey
from support.servers.service import Service


@pytest.mark.deploy
def test_a_stream_over_http2_is_not_held_back(own_valkey: Valkey, tmp_path: Path) -> None:
    """A client gets every frame as it comes, and haproxy sends it to the port of feeds."""
    policy = tmp_path / "edge.cfg"
    policy.write_text(
        POLICY.read_text("utf-8").replace(
            'bind "$QUOTECAST_EDGE_BIND"', 'bind "$QUOTECAST_EDGE_BIND" proto h2'
        )
    )
    with (
        Service(own_valkey, {"QUOTECAST_SIMULATOR_HOURS": "always"}, split=True) as service,
        running_balancer([service], policy) as balancer,
    ):
        service.start("ingest", "api")
        balancer.await_in_service([service])
        url = f"http://127.0.0.1:{balancer.port}/api/sse/market?symbols=all&interval=100"
        curl = [
            "curl",
            "--silent",
            "--no-buffer",
            "--include",
            "--http2-prior-knowledge",
            "--max-time",
            "60",
            url,
        ]
        with subprocess.Popen(curl, stdout=subprocess.PIPE, text=True) as client:
            assert client.stdout
            assert client.stdout.readline().startswith("HTTP/2 200")
            data = (line.removeprefix("data: ") for line in client.stdout if line.startswith("data: "))
            kinds = [json.loads(next(data))["type"] for _ in range(6)]
            client.kill()
        assert kinds == ["welcome", "subscribed", "snapshot", "update", "update", "update"]
        assert balancer.sessions("feeds") == 1
