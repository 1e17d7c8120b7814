"""Clients that stop reading, reconnect all at once, or log in all at once."""

import socket
import statistics
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.runs.figures import Figures
from support.servers.open_sockets import server_end, sockets_of
from support.servers.whole_service import Whole
from support.stages.standard_load import StandardLoad

PATIENCE_SECONDS = 60.0
LOGINS = 100
#: Megabytes of one hash: a hundred at once would take two gigabytes.
HASH_MEGABYTES = 20
STOPPED = 20
#: Snapshots that each of them requests: together far more than the kernel buffers for a socket.
ASKED = 60
#: Seconds of normal load, as a baseline.
QUIET_SECONDS = 5.0


@pytest.mark.vital
def test_all_clients_reconnect_at_once(whole: Whole, figures: Figures) -> None:
    """After a mass disconnection each client has its state within two seconds, at any worker."""
    with whole.under_load() as load:
        at = load.disconnect_all()
        load.until(lambda: all(each.state_at > at for each in load.listeners), PATIENCE_SECONDS)
        figures.at_most("everyone has a snapshot", max(each.state_at for each in load.listeners) - at, 2)


def test_hashing_is_bounded(whole: Whole, figures: Figures) -> None:
    """Each worker computes one hash at a time: a hundred logins all get clear answers, and reads go on."""
    with whole.under_load() as load, ThreadPoolExecutor(LOGINS) as pool:
        began = time.time()
        time.sleep(QUIET_SECONDS)
        asked, before, most = time.time(), resident_megabytes(whole), 0.0
        logins = [pool.submit(login, whole, number) for number in range(LOGINS)]
        while not all(each.done() for each in logins):
            most = max(most, resident_megabytes(whole))
            time.sleep(0.005)
        answered = time.time()
        answers = Counter(each.result() for each in logins)
        assert answers.total() == answers[401] + answers[503], "503 is for those who waited too long"
        assert answers[401]
        figures.note("logins answered with 503", answers[503], "none on an idle machine", "logins")
        load.check_reads(PATIENCE_SECONDS)
        figures.at_most("memory for hashes", most - before, len(whole.workers) * HASH_MEGABYTES + 20, "MB")
        ratio = load.read_seconds(0.99, asked, answered) / load.read_seconds(0.99, began, asked)
        figures.note("logins answered in", answered - asked, "each worker hashes some 30 a second")
        figures.note("p99 of reads", ratio, "wished for: at most 1.5", "times the usual")


def login(whole: Whole, number: int) -> int:
    """Logs in as an unknown user, which costs as much as a known one; returns the status."""
    body = {"email": f"{number}@example.com", "password": "correct horse battery"}
    status, _ = whole.post("/api/auth/login", body)
    return status


@pytest.mark.vital
def test_slow_consumers_do_not_delay_others(whole: Whole, figures: Figures) -> None:
    """Workers disconnect clients that stop reading and free their memory; others see no delay."""
    with whole.under_load() as load, ExitStack() as stack:
        time.sleep(QUIET_SECONDS)
        usual, memory = latency(load), resident_megabytes(whole)
        clients = [stack.enter_context(connected_client(whole.service.port)) for _ in range(STOPPED)]
        held = {server_end(client) for client in clients}
        for client in clients:
            request_everything(client)
        began = time.monotonic()
        load.until(lambda: not held & sockets(whole), PATIENCE_SECONDS)
        figures.at_most("their sockets are gone", time.monotonic() - began, 15)
        figures.at_most("latency of the others", latency(load) / usual, 1.2, "times the usual")
        figures.at_most("memory they cost", resident_megabytes(whole) - memory, 2.0 * STOPPED, "MB")
        assert not load.closes


def latency(load: StandardLoad) -> float:
    """Returns the median age of prices since the last call."""
    latencies = [seconds for each in load.listeners for seconds in each.latencies]
    for each in load.listeners:
        each.latencies.clear()
    return statistics.median(latencies)


def connected_client(port: int) -> socket.socket:
    """Returns a client of a feed that reads nothing after the handshake."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.connect(("127.0.0.1", port))
    client.sendall(
        b"GET /api/ws/market?symbols=all&interval=100 HTTP/1.1\r\nHost: quotecast\r\nConnection: Upgrade\r\n"
        b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    assert client.recv(12) == b"HTTP/1.1 101"
    return client


def request_everything(client: socket.socket) -> None:
    """Requests everything, over and over: all buffers fill."""
    for _ in range(ASKED):
        for action in ("unsubscribe", "subscribe"):
            client.sendall(mask_frame(f'{{"action":"{action}","symbols":"all"}}'.encode()))


def mask_frame(text: bytes) -> bytes:
    """Returns a short masked text frame of a client; the mask is zero."""
    return bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text


def sockets(whole: Whole) -> set[int]:
    return {inode for worker in whole.workers for inode in sockets_of(worker.pid)}


def resident_megabytes(whole: Whole) -> float:
    pages = [int(Path(f"/proc/{each.pid}/statm").read_text().split()[1]) for each in whole.workers]
    return sum(pages) * 4096 / 1e6
