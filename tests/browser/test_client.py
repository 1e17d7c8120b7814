"""The TypeScript client, for browsers and Node."""

import os
import subprocess
import sys

import pytest

from support.service import Service
from support.web_files import WEB

pytestmark = pytest.mark.browser


def test_the_client_keeps_its_promises(service: Service) -> None:
    """The client's tests on Node pass: encodings, resuming, watchdog, limits; so do the page's."""
    done = subprocess.run(
        [WEB / "npm", "run", "--silent", "test"],
        env={**os.environ, "PYTHON": sys.executable, "QUOTECAST_URL": service.url},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
