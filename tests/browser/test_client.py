"""The tests in TypeScript."""

import os
import subprocess
from pathlib import Path

import pytest

from support.service import Service
from support.web_files import CLIENT, WEB

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("folder", [CLIENT, WEB], ids=["client", "page"])
def test_the_tests_on_node_pass(folder: Path, service: Service) -> None:
    """Those of the client (encodings, resuming, watchdog, limits) and of the page's computations."""
    done = subprocess.run(
        [WEB / "npm", "--prefix", folder, "run", "--silent", "test"],
        env={**os.environ, "QUOTECAST_URL": service.url},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
