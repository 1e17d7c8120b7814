"""Clients as people have them: browsers, Node and Bun agree on compression, and read every frame."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from docs.pages import blocks
from docs.pages import page as page_of_docs
from support.runs.deadlines import scaled
from support.servers.browsers import both_browsers
from support.servers.service import Service
from support.servers.typescript_package import installed_client, node_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LISTENER: Final = Path(__file__).with_name("clients") / "listen.mjs"
#: The greeting has three frames.
FRAMES: Final = 8
READ: Final = """([url, count]) => new Promise((resolve, reject) => {
  // The server compresses frames that clients share: this one comes first.
  const companion = new WebSocket(url);
  companion.onopen = () => {
    const socket = new WebSocket(url), frames = [];
    socket.onerror = () => reject(new Error("the connection failed"));
    socket.onmessage = (event) => {
      frames.push(event.data);
      if (frames.length === count) resolve([socket.extensions, ...frames]);
    };
  };
})"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a project with the packed client, `ws` and Bun."""
    return installed_client(tmp_path_factory.mktemp("clients"))


def runtime_of(project: Path, name: str) -> str:
    """Returns the path of Node or Bun."""
    return node_of(project) if name == "node" else str(project / "node_modules/.bin/bun")


def feed_of(service: Service) -> str:
    return service.url.replace("http", "ws", 1) + "/api/ws/market?symbols=all&interval=100"


def check(extension: str, frames: Sequence[str]) -> None:
    """Compression is agreed, and the frames are those of the feed, each after the one before."""
    assert extension.startswith("permessage-deflate")
    read: list[dict[str, Any]] = [json.loads(frame) for frame in frames]
    assert [frame["type"] for frame in read[:3]] == ["welcome", "subscribed", "snapshot"]
    assert len(read[2]["data"]) == 500
    updates = [frame for frame in read[3:] if frame["type"] == "update"]
    assert updates
    seqs = [read[2]["seq"], *(frame["seq"] for frame in updates)]
    assert seqs == sorted(seqs)


@both_browsers
def test_browsers_read_every_frame(page: Page, service: Service) -> None:
    """Chromium and Firefox offer compression by themselves."""
    extension, *frames = page.evaluate(READ, [feed_of(service), FRAMES])
    check(extension, frames)


@pytest.mark.parametrize("runtime", ["node", "bun"])
def test_runtimes_read_every_frame(runtime: str, project: Path, service: Service) -> None:
    """`ws` on Node, and the WebSocket that Bun has."""
    script = shutil.copy(LISTENER, project)
    command = [runtime_of(project, runtime), script, feed_of(service), str(FRAMES)]
    done = subprocess.run(
        command, cwd=project, capture_output=True, text=True, timeout=scaled(60), check=False
    )
    assert done.returncode == 0, done.stderr
    extension, *frames = done.stdout.splitlines()
    check(extension, frames)


@pytest.mark.parametrize("runtime", ["node", "bun"])
def test_the_programs_of_the_docs_reach_live_data(runtime: str, project: Path, service: Service) -> None:
    """The recipe's program, in a project with nothing else, on Node with `ws` and on Bun as it is."""
    program, *_ = blocks(page_of_docs("typescript"), "js")
    here = program.replace("http://127.0.0.1:8000", service.url)
    if runtime == "bun":
        here = here.replace('import { WebSocket } from "ws";\n', "").replace(", { WebSocket }", "")
    script = project / f"on-{runtime}.mjs"
    script.write_text(here)
    command: list[str | Path] = [runtime_of(project, runtime), script]
    seen: set[str] = set()
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            seen.add(line.split()[0])
            if seen >= {"AAPL", "BTC/USDT", "gram-altin"}:
                break
        process.kill()
    assert seen >= {"AAPL", "BTC/USDT", "gram-altin"}
