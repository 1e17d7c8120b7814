"""A client of an event stream over a plain socket: it parses lines as the HTML standard says."""

import json
import socket
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Self

from support.runs.deadlines import scaled

PATIENCE_SECONDS = 20.0


class EventStream:
    """One connection; `last_id` and `retry_ms` are what `EventSource` would send and wait."""

    def __init__(
        self,
        port: int,
        path: str,
        headers: Mapping[str, str] = {},
        *,
        version: str = "1.1",
        before: bytes = b"",
    ) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=scaled(PATIENCE_SECONDS))
        lines = [
            f"GET {path} HTTP/{version}",
            "Host: test",
            *(f"{key}: {text}" for key, text in headers.items()),
        ]
        self._socket.sendall(before + "\r\n".join([*lines, "", ""]).encode())
        self._received = b""
        self.last_id = ""
        self.retry_ms: int | None = None
        self.comments: list[str] = []
        try:
            self.status, self.headers = self._read_head()
        except BaseException:
            self._socket.close()
            raise
        self._chunked = self.headers.get("transfer-encoding") == "chunked"
        self._inflate = zlib.decompressobj(31) if self.headers.get("content-encoding") == "gzip" else None
        self._text = ""
        self._lines = self._read_lines()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def frames(self) -> Iterator[dict[str, Any]]:
        """Yields the frames until the stream ends."""
        data, identity = "", self.last_id
        for line in self._lines:
            field, _, value = line.partition(": ")
            match field:
                case "":
                    if line == "":
                        self.last_id = identity
                        if data:
                            yield json.loads(data)
                        data = ""
                    else:
                        self.comments.append(value)
                case "data":
                    data += value
                case "id":
                    identity = value
                case "retry":
                    self.retry_ms = int(value)

    def next_of(self, *kinds: str) -> dict[str, Any]:
        return next(frame for frame in self.frames() if frame["type"] in kinds)

    def body(self) -> Any:
        """Returns the JSON of an answer that is no stream."""
        length = int(self.headers["content-length"])
        while len(self._received) < length:
            self._receive()
        return json.loads(self._received[:length])

    def _read_head(self) -> tuple[int, dict[str, str]]:
        while b"\r\n\r\n" not in self._received:
            if not self._receive():
                raise ConnectionError(self._received)
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        pairs = (line.split(": ", 1) for line in lines)
        return int(first.split()[1]), {name.lower(): value for name, value in pairs}

    def _read_lines(self) -> Iterator[str]:
        for part in self._parts():
            self._text += (self._inflate.decompress(part) if self._inflate else part).decode()
            *whole, self._text = self._text.split("\n")
            yield from whole

    def _parts(self) -> Iterator[bytes]:
        """Yields the bytes of the body."""
        while True:
            if not self._chunked:
                part, self._received = self._received, b""
                yield part
            elif b"\r\n" in self._received:
                size, _, rest = self._received.partition(b"\r\n")
                if len(rest) >= int(size, 16) + 2:
                    if int(size, 16) == 0:
                        return
                    self._received = rest[int(size, 16) + 2 :]
                    yield rest[: int(size, 16)]
                    continue
            if not self._receive():
                return

    def _receive(self) -> bool:
        try:
            data = self._socket.recv(65_536)
        except ConnectionError:
            return False
        self._received += data
        return bool(data)
