"""Requests within and outside of the OpenAPI document, for every operation, over real processes."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from support.runs.deadlines import scaled
from support.servers.whole_service import Whole

SCHEMATHESIS: Final = Path(sys.executable).with_name("schemathesis")
#: Errors that a schema cannot express: intervals too fine for a range, dates out of order, decimals past
#: the eighth. And the framework's OPTIONS names the methods of a path's first handler only.
EXCLUDED: Final = "positive_data_acceptance,allow_header_conformance"
OPERATIONS: Final = 127


def run_schemathesis(whole: Whole, folder: Path, examples: int, *more: str) -> str:
    """Returns schemathesis' output for deterministic examples."""
    done = subprocess.run(
        [
            *(str(SCHEMATHESIS), "run", f"{whole.service.url}/api/openapi.json", "--no-color"),
            *("--generation-deterministic", "--phases", "examples,coverage,fuzzing"),
            # The long poll of events waits for 25 s.
            *("--request-timeout", f"{scaled(60):.0f}"),
            # It is judged by a wall clock.
            *("--suppress-health-check", "too_slow"),
            # Streams do not end; tests/integration/stream/test_events.py has their errors.
            *("--exclude-path-regex", "^/api/sse/"),
            *("--max-examples", str(examples), "--exclude-checks", EXCLUDED, *more),
        ],
        cwd=folder,  # schemathesis writes its cache into the working directory
        capture_output=True,
        text=True,
        timeout=scaled(800),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def count_requests(output: str) -> int:
    """Returns the number of requests; fails if they missed an operation."""
    assert f"Tested: {OPERATIONS}" in output, output
    found = re.search(r"(\d+) generated", output)
    assert found, output
    return int(found[1])


@pytest.mark.slow
def test_a_stranger_finds_no_fault(whole: Whole, tmp_path: Path) -> None:
    """No request without a token gets a 5xx, an undocumented status, or an answer outside of its schema."""
    assert count_requests(run_schemathesis(whole, tmp_path, 3)) > 500


@pytest.mark.slow
def test_a_user_finds_no_fault(whole: Whole, tmp_path: Path) -> None:
    """The same holds with a token."""
    body = {"name": "Ayşe", "email": "somebody@example.com", "password": "correct horse battery"}
    _, session = whole.post("/api/auth/register", body)
    assert (
        count_requests(
            run_schemathesis(whole, tmp_path, 3, "--header", f"Authorization: Bearer {session['token']}")
        )
        > 500
    )
