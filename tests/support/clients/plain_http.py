"""Plain HTTP to a local server: the TLS context of clients, and requests that no client sends."""

import ssl
from contextlib import closing
from http.client import HTTPConnection
from typing import Final

from support.runs.deadlines import scaled

#: Knows no authority, so it accepts no certificate. For each new client httpx reads a file of authorities,
#: which takes 30 ms of CPU time: thirty times as long as a request to a local server.
NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def status_of_length(port: int, path: str, size: int) -> int:
    """Returns the status that a body of a size has, before any of it is sent."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=scaled(20))) as connection:
        connection.putrequest("POST", path)
        connection.putheader("Content-Length", f"{size}")
        connection.endheaders()
        return connection.getresponse().status
