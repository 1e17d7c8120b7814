"""Workers die and stop, under the standard load."""

import json
import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from threading import Barrier

import pytest
from websockets.exceptions import ConnectionClosed

from support.runs.deadlines import scaled
from support.runs.figures import Figures
from support.servers.processes import Valkey
from support.servers.running_up import running_up
from support.servers.service import FeedClient, Service
from support.servers.whole_service import Whole, whole_service
from support.stages.standard_load import StandardLoad

PATIENCE_SECONDS = 30.0
#: Work in progress at SIGTERM.
UNDER_WAY = 10
FEW = 18


@pytest.mark.vital
def test_clients_of_a_killed_worker_are_back_soon(tmp_path: Path, figures: Figures) -> None:
    """`up` replaces a killed worker; its clients resume soon, and others lose nothing."""
    with running_up(tmp_path, simulator_rate="67", limits="off") as up, StandardLoad(up.port) as load:
        at = time.time()
        os.kill(up.pids["api 1"], signal.SIGKILL)
        load.until(lambda: any(each.closes for each in load.listeners), PATIENCE_SECONDS)
        # A client that reads a newer price has read the end of its old connection, and is back.
        load.until_newer(time.time(), PATIENCE_SECONDS)
        theirs = [each for each in load.listeners if each.closes]
        figures.at_most("its clients have their state", max(each.state_at for each in theirs) - at, 5)
        assert 0 < len(theirs) < len(load.listeners)
        up.wait_for_restart("api 1")
        figures.note("replaced", time.time() - at, "no promise")
        assert load.broken_promises == []
        assert max(len(each.closes) for each in load.listeners) == 1


def test_a_stopping_worker_notifies_every_client(figures: Figures) -> None:
    """A stopping worker sends every client a shutdown frame and a close frame, and finishes its requests."""
    with (
        whole_service() as whole,
        StandardLoad(whole.service.port) as load,
        ThreadPoolExecutor(UNDER_WAY) as pool,
    ):
        under_way = Barrier(UNDER_WAY + 1)
        answers = [pool.submit(register, whole, number, under_way) for number in range(UNDER_WAY)]
        under_way.wait(scaled(PATIENCE_SECONDS))
        began = time.monotonic()
        for worker in whole.workers:
            worker.terminate()
        load.until(lambda: all(each.farewell_at and each.closes for each in load.listeners), PATIENCE_SECONDS)
        figures.at_most("all closed", time.monotonic() - began, 5)
        assert [worker.wait(scaled(PATIENCE_SECONDS)) for worker in whole.workers] == [0, 0]
        figures.at_most("ended", time.monotonic() - began, 10)
        # A client may come back to a worker that stops a moment after the other, and is closed again.
        assert set(load.closes) == {1012}
        assert load.broken_promises == []
        # One hash at a time may take a busy machine longer than a registration waits.
        assert {201} <= {each.result() for each in answers} <= {201, 503}


def test_the_few_clients_of_a_stopped_worker_are_back_at_once(own_valkey: Valkey, figures: Figures) -> None:
    """Few clients of a stopped worker reconnect at once to the other worker, and resume with their cursor."""
    with (
        Service(own_valkey, {"QUOTECAST_LIMITS": "off"}) as service,
        ThreadPoolExecutor(FEW) as pool,
        ExitStack() as stack,
    ):
        worker = service.start("ingest", "api")
        clients = [stack.enter_context(service.feed("/api/ws/market?symbols=AAPL")) for _ in range(FEW)]
        for client in clients:
            client.next_of("snapshot")
        service.start("api")
        worker.terminate()
        returned = [pool.submit(reconnect, service, client) for client in clients]
        seconds = [each.result(scaled(PATIENCE_SECONDS)) for each in returned]
        figures.at_most("the last is back", max(seconds), 1)
        assert worker.wait(scaled(PATIENCE_SECONDS)) == 0


def reconnect(service: Service, client: FeedClient) -> float:
    """Reconnects after the announced delay; returns the seconds until the client is served."""
    farewell = client.next_of("shutdown")
    began = time.monotonic()
    assert farewell["retryAfterMs"] < 500
    assert client.closed() == 1012
    deadline = began + scaled(PATIENCE_SECONDS)
    while time.monotonic() < deadline:
        time.sleep(farewell["retryAfterMs"] / 1000)
        path = f"/api/ws/market?symbols=AAPL&since={client.state.since}"
        with suppress(ConnectionClosed, OSError), service.feed(path) as again:
            assert again.next_of("snapshot")["reason"] == "resume"
            return time.monotonic() - began
    pytest.fail("no worker took the client")


def register(whole: Whole, number: int, under_way: Barrier) -> int:
    """Registers a user, with the body once a worker has asked for it in all requests; returns the status."""
    user = {"name": "Ayşe", "email": f"{number}@example.com", "password": "correct horse battery"}
    body = json.dumps(user).encode()
    headers = {"Content-Type": "application/json", "Content-Length": len(body), "Expect": "100-continue"}
    connection = HTTPConnection("127.0.0.1", whole.service.port, timeout=scaled(PATIENCE_SECONDS))
    with closing(connection):
        connection.putrequest("POST", "/api/auth/register")
        for name, value in headers.items():
            connection.putheader(name, str(value))
        connection.endheaders()
        # The first byte of "100 Continue", which the connection passes over when it reads the answer.
        connection.sock.recv(1, socket.MSG_PEEK)
        under_way.wait(scaled(PATIENCE_SECONDS))
        connection.send(body)
        return connection.getresponse().status


def test_clients_of_a_hung_worker_are_back(tmp_path: Path, figures: Figures) -> None:
    """`up` kills and replaces a hung worker, which would hold its share of the port without answers."""
    with running_up(tmp_path, simulator_rate="67", limits="off") as up, StandardLoad(up.port) as load:
        at = time.time()
        os.kill(up.pids["api 1"], signal.SIGSTOP)
        up.wait_for_restart("api 1")
        figures.at_most("replaced", time.time() - at, 30)
        load.until_newer(time.time(), PATIENCE_SECONDS)
        assert load.broken_promises == []
