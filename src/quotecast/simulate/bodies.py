"""Requests with a body, which the library `websockets` refuses unread."""

from typing import Any, Final

from websockets.asyncio.server import ServerConnection

_END: Final = b"\r\n\r\n"
_MAX_HEAD_BYTES: Final = 64 << 10
_MAX_BODY_BYTES: Final = 1 << 20


class BodyConnection(ServerConnection):
    """A connection that takes the body off its first request, and gives the library the request without it.

    A body that is malformed or has more than a megabyte ends the connection without an answer.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.body = b""
        self._waiting: bytes | None = b""

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        if self._waiting is None:
            super().data_received(data)
            return
        self._waiting += data
        head, end, rest = self._waiting.partition(_END)
        if not end and len(head) <= _MAX_HEAD_BYTES:
            return
        fields = head.split(b"\r\n")
        sizes = [field for field in fields if _name_of(field) in {b"content-length", b"transfer-encoding"}]
        if not sizes:
            self._pass_on(self._waiting)
            return
        try:
            body, is_whole = _body_of(sizes, rest)
        except ValueError:
            self.transport.abort()
            return
        if is_whole:
            self.body = body
            self._pass_on(b"\r\n".join(field for field in fields if field not in sizes) + end)

    def _pass_on(self, data: bytes) -> None:
        self._waiting = None
        super().data_received(data)


def _name_of(field: bytes) -> bytes:
    return field.partition(b":")[0].strip().lower()


def _body_of(sizes: list[bytes], received: bytes) -> tuple[bytes, bool]:
    """Returns the body as far as it has come, and whether that is all. Raises ValueError."""
    (size,) = sizes
    value = size.partition(b":")[2].strip()
    if len(received) > _MAX_BODY_BYTES:
        raise ValueError("too long a body")
    if _name_of(size) == b"transfer-encoding":
        return _joined(received)
    if not value.isdigit() or int(value) > _MAX_BODY_BYTES:
        raise ValueError("no length of a body")
    return received[: int(value)], len(received) >= int(value)


def _joined(received: bytes) -> tuple[bytes, bool]:
    """Returns the chunks of a body that have come whole, and whether the last one is among them."""
    body = b""
    while received:
        line, end, received = received.partition(b"\r\n")
        if not end:
            break
        size = int(line.partition(b";")[0], 16)
        if size < 0:
            raise ValueError("no size of a chunk")
        if size == 0:
            return body, received.endswith(b"\r\n")
        if len(received) < size + 2:
            break
        body, received = body + received[:size], received[size + 2 :]
    return body, False
