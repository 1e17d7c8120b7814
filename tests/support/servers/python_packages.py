"""The Python client as its users install it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parents[3] / "clients" / "python"
#: The oldest Python that the client supports comes first.
INTERPRETERS: Final = ("python3.9", "python3.10")


def build_package(folder: Path) -> tuple[Path, Path]:
    """Returns the wheel and the source archive."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", folder],
        cwd=PROJECT,
        check=True,
        capture_output=True,
    )
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, archive


def install_package(wheel: Path, folder: Path) -> Path:
    """Installs a wheel into a new environment of this machine's oldest Python; returns its interpreter."""
    subprocess.run([oldest_python(), "-m", "venv", folder], check=True)
    interpreter = folder / "bin" / "python"
    subprocess.run(
        [interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel],
        check=True,
        env=without_paths(),
    )
    return interpreter


def oldest_python() -> str:
    """Returns the oldest Python that the client supports and this machine runs."""
    for name in filter(None, map(shutil.which, INTERPRETERS)):
        # A version manager may have the command without the version.
        if subprocess.run([name, "-c", ""], check=False, capture_output=True).returncode == 0:
            return name
    return sys.executable


def without_paths() -> dict[str, str]:
    """Returns the environment without what would show other packages to Python."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
