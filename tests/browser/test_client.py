"""The tests in TypeScript, and the types of the client."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from quotecast.api.reference.asyncapi import asyncapi_document
from support.made.factories import client_to, edge_of, full_mirrors, services
from support.made.web_files import CLIENT, WEB
from support.runs.deadlines import scaled
from support.servers.service import Service
from support.servers.terminal_service import beside

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_the_clients_tests_on_node_pass(service: Service) -> None:
    """Those of encodings, resuming, watchdog and limits; `just check` runs those of the page."""
    done = subprocess.run(
        [WEB / "npm", "--prefix", CLIENT, "run", "--silent", "test"],
        env={**os.environ, "QUOTECAST_URL": service.url},
        capture_output=True,
        text=True,
        timeout=scaled(50),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_clients_types_are_those_of_the_service(tmp_path: Path) -> None:
    """The committed types equal those generated from the service's documents."""
    openapi, asyncapi = tmp_path / "openapi.json", tmp_path / "asyncapi.json"

    async def write() -> None:
        async with client_to(edge_of(services(full_mirrors()))) as http:
            openapi.write_bytes((await http.get("/api/openapi.json")).content)

    beside(write())
    asyncapi.write_text(json.dumps(asyncapi_document()))
    generator = (shutil.which("node") or "node", WEB / "scripts/generate.js")
    done = subprocess.run(
        [*generator, "--check", openapi, asyncapi], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
