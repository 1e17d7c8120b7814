"""A package index on loopback: the machine's own registry, with newer releases of some packages."""

import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

_JSON: Final = "application/vnd.pypi.simple.v1+json"


def registry() -> str:
    """Returns the address of the registry that this machine's uv or pip uses."""
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        if os.environ.get(name):
            return os.environ[name].rstrip("/")
    shown = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--help"], check=True, capture_output=True, text=True
    ).stdout
    found = re.search(r"\(default\s+(\S+)\)", shown)
    assert found, "pip names no registry"
    return found[1].rstrip("/")


def empty_wheel(name: str, version: str) -> bytes:
    """Returns a wheel that holds nothing but its metadata."""
    file = io.BytesIO()
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    contents = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(file, "w") as wheel:
        for each, text in contents.items():
            # Always of the same time, so that it has one hash.
            wheel.writestr(zipfile.ZipInfo(f"{folder}/{each}"), text)
    return file.getvalue()


class _Handler(BaseHTTPRequestHandler):
    upstream: str
    newer: Mapping[str, str]

    def do_GET(self) -> None:
        name = self.path.rstrip("/").rpartition("/")[2]
        if self.path.startswith("/files/"):
            project, version, *_ = name.split("-")
            self._send("application/zip", empty_wheel(project, version))
            return
        try:
            page = self._page(name)
        except OSError as error:
            self.send_error(404, str(error))
            return
        self._send(_JSON, json.dumps(page).encode())

    def do_HEAD(self) -> None:
        self.do_GET()

    def _page(self, name: str) -> Any:
        """Returns the registry's page of a project, and a newer release of some."""
        address = f"{self.upstream}/{name}/"
        request = urllib.request.Request(address, headers={"Accept": _JSON})  # noqa: S310 - of this machine
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - likewise
            page = json.load(answer)
        for file in page["files"]:
            file["url"] = urllib.parse.urljoin(address, file["url"])
        if name in self.newer:
            filename = f"{name.replace('-', '_')}-{self.newer[name]}-py3-none-any.whl"
            digest = hashlib.sha256(empty_wheel(*filename.split("-")[:2])).hexdigest()
            page["files"].append(
                {"filename": filename, "url": f"/files/{filename}", "hashes": {"sha256": digest}}
            )
            page.get("versions", []).append(self.newer[name])
        return page

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


class _Empty(_Handler):
    def do_GET(self) -> None:
        self.send_error(404)


@contextlib.contextmanager
def newer_index(newer: Mapping[str, str]) -> Iterator[str]:
    """Yields the address of an index that offers these versions, by project, beside the registry's."""
    with _serving(type("Newer", (_Handler,), {"upstream": registry(), "newer": newer})) as address:
        yield address


@contextlib.contextmanager
def empty_index() -> Iterator[str]:
    """Yields the address of an index that answers 404 to everything."""
    with _serving(_Empty) as address:
        yield address


@contextlib.contextmanager
def _serving(handler: type[_Handler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/simple"
        finally:
            server.shutdown()
