"""The Python client as a package."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from support.servers.python_packages import build_package


def test_the_package_can_be_published(tmp_path: Path) -> None:
    """It has types and a licence, needs little, and the index accepts its description."""
    wheel, archive = build_package(tmp_path)
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel, archive], check=True)
    with zipfile.ZipFile(wheel) as files:
        names = {name.split("/", 1)[1] for name in files.namelist()}
        (described,) = (name for name in files.namelist() if name.endswith("METADATA"))
        lines = files.read(described).decode().splitlines()
    assert {"py.typed", "_sync/client.py", "_async/client.py", "licenses/LICENSE"} <= names
    needed = [line for line in lines if line.startswith("Requires-Dist: ") and "extra" not in line]
    assert [line.split()[1].split("<")[0].split(">")[0] for line in needed] == ["httpx", "websockets"]
    assert "Requires-Python: >=3.9" in lines
    with tarfile.open(archive) as source:
        assert any(name.endswith("src/quotecast_client/py.typed") for name in source.getnames())
