"""Every operation is asked what its document allows, and what it does not, over real processes."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from support.whole_service import Whole

SCHEMATHESIS: Final = Path(sys.executable).with_name("schemathesis")
#: What a schema cannot say is refused too: intervals too fine for a range, dates out of order, decimals
#: past the eighth. And OPTIONS names the methods of a path's first handler alone: so the framework does.
EXCLUDED: Final = "positive_data_acceptance,allow_header_conformance"
OPERATIONS: Final = 38


def fuzzed(whole: Whole, folder: Path, examples: int, *more: str) -> str:
    """What schemathesis says: the same requests each time, for it draws nothing at random."""
    done = subprocess.run(
        [
            *(str(SCHEMATHESIS), "run", f"{whole.service.url}/api/openapi.json", "--no-color"),
            *("--generation-deterministic", "--phases", "examples,coverage,fuzzing"),
            *("--max-examples", str(examples), "--exclude-checks", EXCLUDED, *more),
        ],
        cwd=folder,  # it leaves a cache where it runs
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def asked(said: str) -> int:
    """How many requests were made, if every operation was reached."""
    assert f"Tested: {OPERATIONS}" in said, said
    found = re.search(r"(\d+) generated", said)
    assert found, said
    return int(found[1])


def test_a_stranger_finds_no_fault(whole: Whole, tmp_path: Path) -> None:
    """No server error, no status that is not in the document, no answer of another shape."""
    assert asked(fuzzed(whole, tmp_path, 3)) > 500


def test_a_user_finds_no_fault(whole: Whole, tmp_path: Path) -> None:
    """Behind the token as well."""
    body = {"name": "Ayşe", "email": "somebody@example.com", "password": "correct horse battery"}
    _, session = whole.post("/api/auth/register", body)
    assert asked(fuzzed(whole, tmp_path, 3, "--header", f"Authorization: Bearer {session['token']}")) > 500
