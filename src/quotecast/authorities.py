"""The certificate authorities that clients of other servers trust."""

import ssl
from functools import cache

import httpx


@cache
def trusted_authorities() -> ssl.SSLContext:
    """Returns a TLS context, which all of these clients share, so nobody may change it.

    Making it reads the authorities of the package certifi, or those of SSL_CERT_FILE: 20 to 60 ms.
    """
    return httpx.create_ssl_context()
