"""HTTP posts to addresses that users chose, without a way into private networks (SSRF).

The client resolves a name once, refuses the host if any of its addresses is private, and connects to one of
the addresses that it checked: a second look-up could return another address (DNS rebinding). TLS and `Host`
name the host itself. The client follows no redirects, takes no proxy from the environment, and reads the
beginning of an answer only.
"""

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from ipaddress import ip_address, ip_network
from typing import Any, Final

import httpcore
from msgspec import Struct

from quotecast.alerts.networks import LOOPBACK, Address, Network, is_admitted
from quotecast.alerts.urls import BadUrl, Target, parse_url
from quotecast.authorities import trusted_authorities

#: Look-ups at once; a thread whose caller stopped waiting counts until it ends.
MAX_THREADS: Final = 16
#: Returns the addresses of a host name. Raises OSError.
Resolve = Callable[[str, int], Awaitable[list[Address]]]
#: Seconds from the look-up of the name to the end of the answer.
TIMEOUT_SECONDS: Final = 10.0
#: Bytes of an answer's body that the client reads before it closes the connection.
MAX_ANSWER_BYTES: Final = 16 * 1024
#: Bytes of a whole answer: interim answers, headers and the framing of the body cost time to parse.
_MAX_RECEIVED_BYTES: Final = 2 * MAX_ANSWER_BYTES
#: Bytes that are parsed before others have their turn.
_READ_BYTES: Final = 4096
#: Addresses of a host that the client tries.
_MAX_ADDRESSES: Final = 3


class Result(Struct, frozen=True):
    """The outcome of a post: an HTTP status, or an error in words. `retry_after` is in seconds."""

    status: int | None = None
    error: str | None = None
    retry_after: float = 0.0

    @property
    def succeeded(self) -> bool:
        """Whether the receiver answered 2xx."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def problem(self) -> str:
        """The error, or the status of a refusal; empty after success."""
        return "" if self.succeeded else self.error or f"HTTP {self.status}"


class Outbound:
    """Posts to public addresses and to those of `networks`."""

    def __init__(
        self,
        *,
        schemes: Collection[str] = ("https",),
        networks: Collection[Network] = (),
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._schemes = schemes
        self._networks = networks
        self._tls = tls or trusted_authorities()
        self._backend = _Guarded(resolve or Resolver(), networks)
        self._timeout_seconds = timeout_seconds

    def check(self, url: str) -> Target:
        """Returns the parts of a URL that the client would post to. Raises BadUrl."""
        return parse_url(url, schemes=self._schemes, networks=self._networks)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Result:
        """Posts a body once; never raises for anything that the receiver does."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await self._post(self.check(url), headers, body)
        except TimeoutError:
            return Result(error=f"no answer in {self._timeout_seconds:g} s")
        except (BadUrl, _Refused) as error:
            return Result(error=str(error))
        except httpcore.ConnectError as error:
            return Result(error=_words_of(error))
        except ssl.SSLError:
            # After the handshake httpcore passes it on.
            return Result(error="TLS failed")
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            return Result(error=f"broken answer: {type(error).__name__}")

    async def _post(self, target: Target, headers: Mapping[str, str], body: bytes) -> Result:
        host = f"[{target.host}]" if ":" in target.host else target.host
        url = httpcore.URL(
            scheme=target.scheme.encode(), host=host.encode(), port=target.port, target=target.path.encode()
        )
        every = {
            "host": target.authority,
            "user-agent": "quotecast",
            "accept-encoding": "identity",
            "connection": "close",
            "content-length": str(len(body)),
            **headers,
        }
        connection = httpcore.AsyncHTTPConnection(
            url.origin, ssl_context=self._tls, network_backend=self._backend
        )
        exchange = connection.stream("POST", url, headers=[*every.items()], content=body)
        async with connection, exchange as answer:
            read = 0
            async for chunk in answer.aiter_stream():
                read += len(chunk)
                if read >= MAX_ANSWER_BYTES:
                    break
            given = next((value for name, value in answer.headers if name.lower() == b"retry-after"), b"")
            # A date counts as no `Retry-After`.
            retry_after = float(given) if given.isdigit() and len(given) <= 6 else 0.0
            return Result(status=answer.status, retry_after=retry_after)


def make_outbound(networks: Iterable[str], *, production: bool) -> Outbound:
    """Returns the client that posts to receivers, which may be in `networks` too.

    Development admits HTTP and this machine's loopback, so that a webhook can be tried. Raises ValueError.
    """
    own = tuple(map(ip_network, networks))
    if production:
        return Outbound(networks=own)
    return Outbound(schemes=("https", "http"), networks=(*own, *LOOPBACK))


class _Refused(Exception):
    """A host has an address that is not public."""


class _Bounded(httpcore.AsyncNetworkStream):
    """A connection on which the receiver may send _MAX_RECEIVED_BYTES."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._left = _MAX_RECEIVED_BYTES

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore's signature
        """Returns some bytes, none at the end. Raises httpcore.ReadError for too many."""
        if not self._left:
            raise httpcore.ReadError("the answer is too long")
        received = await self._stream.read(min(max_bytes, self._left, _READ_BYTES), timeout)
        self._left -= len(received)
        return received

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - httpcore's signature
        """Sends bytes."""
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Closes the connection."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> httpcore.AsyncNetworkStream:
        """Returns the connection with TLS."""
        return _Bounded(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """Returns what httpcore asks of the connection itself. Raises httpcore.ConnectError."""
        try:
            return self._stream.get_extra_info(info)
        except AttributeError as error:
            # uvloop has no socket of a connection that the receiver has reset.
            raise httpcore.ConnectError("no connection") from error


class _Guarded(httpcore.AsyncNetworkBackend):
    """Opens connections to addresses that it has checked itself."""

    def __init__(self, resolve: Resolve, networks: Collection[Network]) -> None:
        self._resolve = resolve
        self._networks = networks
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Returns a connection to one of the host's addresses, all of which are admitted.

        Raises _Refused for another address, and httpcore.ConnectError.
        """
        try:
            addresses = await self._resolve(host.strip("[]"), port)
        except OSError as error:
            raise httpcore.ConnectError("the host name has no address") from error
        if not all(is_admitted(address, self._networks) for address in addresses):
            raise _Refused("the host has an address that is not public")
        failure = httpcore.ConnectError("the host name has no address")
        for address in addresses[:_MAX_ADDRESSES]:
            try:
                return _Bounded(
                    await self._sockets.connect_tcp(
                        str(address), port, timeout, local_address, socket_options
                    )
                )
            except httpcore.ConnectError as error:
                failure = error
        raise failure

    async def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
        """Never connects: no URL of a user names a file."""
        raise _Refused(f"{path} is not an address")

    async def sleep(self, seconds: float) -> None:
        """Sleeps."""
        await asyncio.sleep(seconds)


def _words_of(error: Exception) -> str:
    """Returns a short reason, which may be shown to the user."""
    text = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return "the certificate is not valid"
    if isinstance(error.__cause__, ssl.SSLError) or "SSL" in text:
        return "TLS failed"
    return text if text.startswith("the host name") else "no connection"


class Resolver:
    """Resolves names in at most `MAX_THREADS` threads of its own.

    A name server of an attacker may never answer. The event loop's own look-ups share a few threads, which
    slow names would fill, so that upstreams could not reconnect. These threads are daemons: a stop does not
    wait.
    """

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(MAX_THREADS)

    async def __call__(self, host: str, port: int) -> list[Address]:
        """Returns the addresses of a host, each once, in the order of preference. Raises OSError."""
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[Address]] = loop.create_future()

        def note(addresses: list[Address], error: OSError | None) -> None:
            self._free.release()
            if found.done():
                return
            if error is None:
                found.set_result(addresses)
            else:
                found.set_exception(error)

        def work() -> None:
            addresses, error = _look_up(host, port)
            try:
                loop.call_soon_threadsafe(note, addresses, error)
            except RuntimeError:
                # The loop has closed: nobody waits.
                return

        threading.Thread(target=work, name="look-up", daemon=True).start()
        return await found


def _look_up(host: str, port: int) -> tuple[list[Address], OSError | None]:
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(ip_address(row[4][0]) for row in rows)), None
    except OSError as error:
        return [], error
    except (ValueError, UnicodeError):
        return [], OSError("not a host name")
