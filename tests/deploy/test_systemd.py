"""systemd accepts the units in deploy/systemd, and their settings exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from quotecast.settings import model

UNITS = sorted((Path(__file__).parents[2] / "deploy" / "systemd").glob("*.service"))


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_settings_are_those_of_the_service(unit: Path) -> None:
    """Every environment variable is a setting: a misspelled one stops the start."""
    given = re.findall(r"^Environment=(\w+)=", unit.read_text("utf-8"), re.MULTILINE)
    assert given
    assert set(given) <= set(model.variable_names())


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_units_load_every_credential(unit: Path) -> None:
    """Every unit loads the credentials that its settings read, by their names."""
    text = unit.read_text("utf-8")
    assert set(re.findall(r"_FILE=%d/(\S+)", text)) == set(
        re.findall(r"^LoadCredential=([\w-]+):", text, re.MULTILINE)
    )


@pytest.mark.deploy
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_takes_the_unit(unit: Path, tmp_path: Path) -> None:
    """The command `systemd-analyze` reports no error, and an exposure of at most 2 of 10."""
    copy = tmp_path / unit.name
    command = Path(sys.executable).with_name("quotecast")
    copy.write_text(unit.read_text("utf-8").replace("/opt/quotecast/bin/quotecast", str(command)), "utf-8")
    verified = analyze("verify", "--man=no", copy)
    assert (verified.returncode, verified.stderr) == (0, "")
    judged = analyze("security", "--offline=true", "--threshold=20", copy)
    assert judged.returncode == 0, judged.stdout


def analyze(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, check=False)  # noqa: S607 - the system's
