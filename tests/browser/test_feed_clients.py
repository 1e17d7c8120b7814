"""Clients as people have them negotiate permessage-deflate with the feed server and read every frame."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from support.service import Service
from support.web_files import WEB

pytestmark = pytest.mark.browser

CLIENTS: Final = Path(__file__).with_name("clients")
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


def npm(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Runs npm in a folder, with the Node that tests the page."""
    command = [str(WEB / "npm"), "--prefix", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `ws` and Bun."""
    folder = tmp_path_factory.mktemp("clients")
    shutil.copytree(CLIENTS, folder, dirs_exist_ok=True)
    done = npm(folder, "install", "--no-package-lock", "--no-fund", "--no-audit")
    assert done.returncode == 0, done.stderr
    return folder


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


def test_browsers_read_every_frame(page: Page, service: Service) -> None:
    """Chromium and Firefox offer compression by themselves."""
    extension, *frames = page.evaluate(READ, [feed_of(service), FRAMES])
    check(extension, frames)


@pytest.mark.parametrize("runtime", ["node", "bun"])
def test_runtimes_read_every_frame(runtime: str, installed: Path, service: Service) -> None:
    """`ws` on Node, and the WebSocket that Bun has."""
    done = npm(installed, "run", "--silent", runtime, "--", feed_of(service), str(FRAMES))
    assert done.returncode == 0, done.stderr
    extension, *frames = done.stdout.splitlines()
    check(extension, frames)
