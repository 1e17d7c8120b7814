"""TLS proxies in front of the tests' servers, which speak none themselves, with self-signed certificates."""

import asyncio
import contextlib
import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

#: First bytes of a PostgreSQL client that wants TLS, and the answer that allows it.
_SSL_REQUEST: Final = bytes.fromhex("0000000804d2162f")
_ALLOWED: Final = b"S"


class Certificate:
    """A self-signed certificate of 127.0.0.1."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "certificate.pem"
        key = folder / "key.pem"
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
                *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
                *("-keyout", str(key), "-out", str(self.path)),
            ],
            check=True,
            capture_output=True,
        )
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.load_cert_chain(self.path, key)


@contextlib.asynccontextmanager
async def redis_over_tls(socket: Path, certificate: Certificate) -> AsyncIterator[int]:
    """Yields the port of a Redis that speaks TLS from the first byte."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _copy_both_ways(reader, writer, socket)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=certificate.context)
    async with server:
        yield server.sockets[0].getsockname()[1]


@contextlib.asynccontextmanager
async def postgres_over_tls(socket: Path, certificate: Certificate) -> AsyncIterator[int]:
    """Yields the port of a PostgreSQL that accepts TLS clients only."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            if await reader.readexactly(len(_SSL_REQUEST)) != _SSL_REQUEST:
                writer.close()
                return
            writer.write(_ALLOWED)
            await writer.start_tls(certificate.context)
            await _copy_both_ways(reader, writer, socket)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def _copy_both_ways(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, socket: Path) -> None:
    """Copies bytes both ways until one side ends."""
    inner_reader, inner_writer = await asyncio.open_unix_connection(socket)
    ways = [_copy(reader, inner_writer), _copy(inner_reader, writer)]
    tasks = [asyncio.create_task(way) for way in ways]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for end in (writer, inner_writer):
        end.close()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while block := await reader.read(65536):
        writer.write(block)
        await writer.drain()
