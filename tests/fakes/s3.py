"""A bucket that speaks as much of S3 as segments need: put, get, list and delete."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'


class FakeBucket:
    """The objects by key; `away` makes every request fail."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.away = False
        self.endpoint = ""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bucket: FakeBucket

    def do_GET(self) -> None:
        objects = self.bucket.objects
        key, query = self._target()
        if not key:
            self._answer(200, _listing(objects, query.get("prefix", [""])[0]))
        elif key in objects:
            self._answer(200, objects[key])
        else:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    def do_PUT(self) -> None:
        key, _ = self._target()
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.bucket.away:
            self.bucket.objects[key] = body
        self._answer(200, b"")

    def do_POST(self) -> None:
        """Deletes the objects that the body names."""
        self._target()
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        keys = [part.partition("</Key>")[0] for part in body.split("<Key>")[1:]]
        for key in keys:
            self.bucket.objects.pop(key, None)
        deleted = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        self._answer(200, f"<DeleteResult {NAMESPACE}>{deleted}</DeleteResult>".encode())

    def log_message(self, *_: object) -> None:
        """Logs nothing."""

    def _target(self) -> tuple[str, dict[str, list[str]]]:
        parts = urlsplit(self.path)
        key = unquote(parts.path).removeprefix("/kept").lstrip("/")
        self.bucket.requests.append(f"{self.command} {key}")
        return key, parse_qs(parts.query)

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(403 if self.bucket.away else status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"1"')
        self.send_header("Last-Modified", "Fri, 20 Nov 2026 14:30:00 GMT")
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running_bucket() -> Iterator[FakeBucket]:
    """Serves a bucket named `kept`."""
    bucket = FakeBucket()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"bucket": bucket}))
    bucket.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield bucket
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _listing(objects: dict[str, bytes], prefix: str) -> bytes:
    found = "".join(
        f"<Contents><Key>{escape(key)}</Key><LastModified>2026-11-20T14:30:00.000Z</LastModified>"
        f'<ETag>"1"</ETag><Size>{len(body)}</Size></Contents>'
        for key, body in sorted(objects.items())
        if key.startswith(prefix)
    )
    return (
        f"<ListBucketResult {NAMESPACE}><IsTruncated>false</IsTruncated>{found}</ListBucketResult>".encode()
    )
