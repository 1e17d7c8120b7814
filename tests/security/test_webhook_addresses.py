"""The client of webhooks reaches public addresses only, whatever a URL, a name server or a receiver does."""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Callable
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import httpcore
import pytest

from fakes.receiver import BROKEN, HANGING, Receiver, Reply
from quotecast.alerts.networks import LOOPBACK, Address
from quotecast.alerts.outbound import MAX_ANSWER_BYTES, Outbound
from support.servers.own_tls import make_certificate, trusting

ONLY_THIS = (ip_network("127.0.0.1/32"),)
NOT_PUBLIC = "the host has an address that is not public"


class Names:
    """Resolves names to the addresses of a test, one answer after the other; the last one stays."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = [*answers]
        self.asked: list[str] = []

    async def __call__(self, host: str, _port: int) -> list[Address]:
        self.asked.append(host)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [ip_address(each) for each in answer]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    async with receiver.serve():
        yield receiver


def outbound(**other: Any) -> Outbound:
    return Outbound(**({"schemes": ("http", "https"), "networks": ONLY_THIS} | other))


@pytest.mark.parametrize(
    "addresses",
    [
        *(
            ["10.0.0.1"],
            ["127.0.0.2"],
            ["169.254.169.254"],
            ["::1"],
            ["::ffff:127.0.0.1"],
            ["64:ff9b::7f00:1"],
        ),
        *(["2002:7f00:1::"], ["fd00::1"], ["100.64.0.1"], ["224.0.0.1"], ["0.0.0.0"], ["fe80::1%lo"]),  # noqa: S104 - refused
        ["127.0.0.1", "10.0.0.1"],
        ["127.0.0.1", "8.8.8.8", "::1"],
    ],
)
async def test_name_with_a_private_address_is_refused(receiver: Receiver, addresses: list[str]) -> None:
    """One private address among several is enough; the client opens no connection."""
    result = await outbound(resolve=Names(addresses)).post(f"http://hook.example:{receiver.port}/", {}, b"{}")
    assert (result.succeeded, result.problem) == (False, NOT_PUBLIC)
    assert receiver.connections == 0


async def test_address_is_looked_up_once(receiver: Receiver) -> None:
    """A second answer would be private (DNS rebinding): the client connects to what it checked."""
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    client = outbound(resolve=names)
    first = await client.post(f"http://hook.example:{receiver.port}/a?b", {"x-y": "z"}, b"{}")
    assert (first.status, names.asked) == (204, ["hook.example"])
    (received,) = receiver.received
    assert (received.path, received.body, received.headers["x-y"]) == ("/a?b", b"{}", "z")
    assert received.headers["host"] == f"hook.example:{receiver.port}"
    again = await client.post(f"http://hook.example:{receiver.port}/", {}, b"{}")
    assert (again.problem, len(receiver.received)) == (NOT_PUBLIC, 1)


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:{}/", "http://127.1:{}/", "http://2130706433:{}/", "http://0x7f000001:{}/"),
        *(
            "http://0177.0.0.1:{}/",
            "http://localhost:{}/",
            "http://[::ffff:127.0.0.1]:{}/",
            "http://[::1]:{}/",
        ),
        *("http://user@127.0.0.1:{}/", "http://example.com@127.0.0.1:{}/", "http://localhost.:{}/"),
    ],
)
async def test_local_url_is_refused_without_a_look_up(receiver: Receiver, url: str) -> None:
    names = Names(["127.0.0.1"])
    client = outbound(networks=(), resolve=names)
    result = await client.post(url.format(receiver.port), {}, b"{}")
    assert not result.succeeded
    assert (names.asked, receiver.connections) == ([], 0)


async def test_system_resolver_finds_no_way_to_this_machine(receiver: Receiver) -> None:
    """The names that this machine has for itself lead to private addresses."""
    client = outbound(networks=())
    assert not (await client.post(f"http://localhost:{receiver.port}/", {}, b"{}")).succeeded
    assert receiver.connections == 0
    admitted = Outbound(schemes=("http",), networks=LOOPBACK)
    assert (await admitted.post(f"http://localhost:{receiver.port}/", {}, b"{}")).succeeded


async def test_redirect_is_not_followed(receiver: Receiver) -> None:
    """A redirect would lead past the check; it counts as a refusal."""
    elsewhere = Receiver()
    async with elsewhere.serve():
        receiver.reply = Reply(307, {"location": f"http://127.0.0.1:{elsewhere.port}/"})
        result = await outbound().post(f"http://127.0.0.1:{receiver.port}/", {}, b"{}")
    assert (result.problem, elsewhere.connections) == ("HTTP 307", 0)


async def test_environment_gives_no_proxy(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would resolve the name again."""
    proxy = Receiver()
    async with proxy.serve():
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        result = await outbound().post(f"http://127.0.0.1:{receiver.port}/", {}, b"{}")
    assert (result.status, proxy.connections) == (204, 0)


async def test_endless_answer_is_cut(receiver: Receiver) -> None:
    """The client reads the beginning, and takes the status."""
    receiver.reply = Reply(200, endless=True)
    result = await outbound().post(f"http://127.0.0.1:{receiver.port}/", {}, b"{}")
    assert result.status == 200
    # What the client does not read waits in buffers of the kernel.
    assert MAX_ANSWER_BYTES < receiver.written < 64 * 1024 * 1024


@pytest.mark.parametrize(
    "flood",
    [
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a:b\r\n" * 19_000,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 10_000,
    ],
    ids=["interim answers", "headers", "chunks"],
)
async def test_answer_of_many_small_parts_is_cut(flood: bytes) -> None:
    """Each part costs time to parse, in the process that reads the market."""
    closed = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        with contextlib.suppress(OSError):
            while True:
                writer.write(flood)
                await writer.drain()
        closed.set()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        result = await outbound().post(f"http://127.0.0.1:{port}/", {}, b"{}")
        await closed.wait()
    assert result.problem == "broken answer: ReadError"


async def test_silent_receiver_costs_a_bounded_time(receiver: Receiver) -> None:
    receiver.reply = HANGING
    result = await outbound(timeout_seconds=0.3).post(f"http://127.0.0.1:{receiver.port}/", {}, b"{}")
    assert result.problem == "no answer in 0.3 s"


async def test_silent_name_server_costs_a_bounded_time() -> None:
    async def never(_host: str, _port: int) -> list[Address]:
        await asyncio.Event().wait()
        return []

    result = await outbound(timeout_seconds=0.1, resolve=never).post("http://hook.example/", {}, b"{}")
    assert result.problem == "no answer in 0.1 s"


async def test_broken_answer_and_closed_port_are_told_apart(receiver: Receiver) -> None:
    receiver.reply = BROKEN
    broken = await outbound().post(f"http://127.0.0.1:{receiver.port}/", {}, b"{}")
    assert broken.problem == "broken answer: RemoteProtocolError"
    with socket.socket() as silent:
        # Bound and not listening: the kernel refuses connections.
        silent.bind(("127.0.0.1", 0))
        closed = await outbound().post(f"http://127.0.0.1:{silent.getsockname()[1]}/", {}, b"{}")
    assert closed.problem == "no connection"


async def test_missing_name_is_an_error() -> None:
    async def missing(_host: str, _port: int) -> list[Address]:
        raise OSError("Name or service not known")

    result = await outbound(resolve=missing).post("http://hook.example/", {}, b"{}")
    assert result.problem == "the host name has no address"


async def test_tls_names_the_host_though_the_client_connects_to_an_address(tmp_path: Path) -> None:
    """The certificate must be the host's, and its name goes into the handshake (SNI)."""
    server, certificate = make_certificate(tmp_path, "hook.example")
    offered: list[str] = []
    remember: Callable[..., None] = lambda _socket, name, _context: offered.append(name)  # noqa: E731 - a callback
    server.sni_callback = remember
    receiver = Receiver()
    async with receiver.serve(server):
        client = outbound(resolve=Names(["127.0.0.1"]), tls=trusting(certificate))
        good = await client.post(f"https://hook.example:{receiver.port}/", {}, b"{}")
        other = await client.post(f"https://other.example:{receiver.port}/", {}, b"{}")
        unknown = await outbound(resolve=Names(["127.0.0.1"])).post(
            f"https://hook.example:{receiver.port}/", {}, b"{}"
        )
    assert (good.status, offered[0]) == (204, "hook.example")
    assert (other.problem, unknown.problem) == ("the certificate is not valid",) * 2
    assert len(receiver.received) == 1


async def test_receiver_that_breaks_tls_after_the_handshake_is_an_error(tmp_path: Path) -> None:
    """OpenSSL's own error gets through httpcore then."""
    tls, certificate = make_certificate(tmp_path, "hook.example")

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        # Past the encryption.
        os.write(writer.get_extra_info("socket").fileno(), b"HTTP/1.1 200 OK\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=tls)
    async with server:
        client = outbound(resolve=Names(["127.0.0.1"]), tls=trusting(certificate))
        port = server.sockets[0].getsockname()[1]
        result = await client.post(f"https://hook.example:{port}/", {}, b"{}")
    assert (result.status, result.problem) == (None, "TLS failed")


async def test_other_addresses_of_a_host_are_tried(receiver: Receiver) -> None:
    """A host with a dead address is reached at the next one."""
    networks = (*ONLY_THIS, ip_network("127.0.0.2/32"))
    client = outbound(networks=networks, resolve=Names(["127.0.0.2", "127.0.0.1"]))
    assert (await client.post(f"http://hook.example:{receiver.port}/", {}, b"{}")).status == 204


async def test_no_url_leads_to_a_unix_socket() -> None:
    with pytest.raises(Exception, match="not an address"):
        await Outbound()._backend.connect_unix_socket("/run/redis.sock")
    assert isinstance(Outbound()._backend, httpcore.AsyncNetworkBackend)
