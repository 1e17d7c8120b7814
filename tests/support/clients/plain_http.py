"""The TLS context of HTTP clients that speak plain HTTP to a local server."""

import ssl
from typing import Final

#: Knows no authority, so it accepts no certificate. For each new client httpx reads a file of authorities,
#: which takes 30 ms of CPU time: thirty times as long as a request to a local server.
NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
