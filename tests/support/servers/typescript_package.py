"""The TypeScript client as its users have it: packed by npm, and installed into a project of their own."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from support.made.web_files import CLIENT, WEB
from support.runs.deadlines import scaled

#: Runtimes beside npm's Node, and what Node lacks.
PACKAGES: Final = {"bun": "1.4.5", "ws": "8.23.0"}


def npm(folder: Path, *arguments: str) -> str:
    """Returns the output of npm in a folder, with the Node that builds the page; fails if npm does."""
    command = [str(WEB / "npm"), "--prefix", str(folder), *arguments]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=scaled(28), check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def installed_client(folder: Path, packages: Mapping[str, str] = PACKAGES) -> Path:
    """Returns a new project with the packed client and with packages of the registry."""
    subprocess.run([CLIENT / "build"], check=True)
    [packed] = json.loads(
        npm(CLIENT, "pack", str(CLIENT), "--ignore-scripts", "--json", f"--pack-destination={folder}")
    )
    project = folder / "project"
    project.mkdir()
    dependencies = {"quotecast-client": f"file:{folder / packed['filename']}", **packages}
    manifest = {
        "name": "project",
        "private": True,
        "type": "module",
        "scripts": {"path-of-node": "node -p process.execPath"},
        "dependencies": dependencies,
    }
    (project / "package.json").write_text(json.dumps(manifest))
    npm(project, "install", "--no-package-lock", "--no-fund", "--no-audit")
    return project


def node_of(project: Path) -> str:
    """Returns the path of the Node that npm runs."""
    return npm(project, "run", "--silent", "path-of-node").strip()
