"""The client module for browsers and Node."""

import os
import subprocess

import pytest

from service import Service
from web_files import NODE, WEB

pytestmark = pytest.mark.browser


def test_the_client_keeps_its_promises(service: Service) -> None:
    """Its tests on Node: encodings, resuming, watchdog, limits; and those of what the page computes."""
    assert ran("scripts/test.js", QUOTECAST_URL=service.url) == "passed"


def test_the_sources_fit_their_types() -> None:
    """Of the page and of the client."""
    assert ran("node_modules/typescript/bin/tsc", "--noEmit") == "passed"


def ran(*arguments: str, **environment: str) -> str:
    """What Node said, or that all is well."""
    command = [NODE, *arguments]
    variables = {**os.environ, **environment}
    done = subprocess.run(
        command, cwd=WEB, env=variables, capture_output=True, text=True, timeout=100, check=False
    )
    return done.stdout + done.stderr if done.returncode else "passed"
