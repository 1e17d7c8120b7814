"""Package indexes on loopback: one offers newer releases of some packages, one has nothing."""

import contextlib
import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


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
    releases: Mapping[str, str]

    def do_GET(self) -> None:
        name = self.path.rstrip("/").rpartition("/")[2]
        if self.path.startswith("/files/"):
            project, version, *_ = name.split("-")
            self._send("application/zip", empty_wheel(project, version))
        elif name in self.releases:
            page = json.dumps(_page(name, self.releases[name])).encode()
            self._send("application/vnd.pypi.simple.v1+json", page)
        else:
            self.send_error(404)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


def _page(name: str, version: str) -> dict[str, Any]:
    """Returns an index's page of a project with one release."""
    filename = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    digest = hashlib.sha256(empty_wheel(*filename.split("-")[:2])).hexdigest()
    file = {"filename": filename, "url": f"/files/{filename}", "hashes": {"sha256": digest}}
    return {"meta": {"api-version": "1.0"}, "name": name, "files": [file]}


@contextlib.contextmanager
def package_index(releases: Mapping[str, str]) -> Iterator[str]:
    """Yields the address of an index that offers these versions, by project, and answers 404 to the rest."""
    handler = type("Index", (_Handler,), {"releases": releases})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/simple"
        finally:
            server.shutdown()
