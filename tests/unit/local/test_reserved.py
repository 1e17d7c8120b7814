"""Reserved ports of tests: no other test gets them."""

import errno
import socket
import subprocess
from pathlib import Path

import pytest
import redis

from quotecast.local import valkey
from support.servers.reserved import port_number, reserve_port


def test_a_reserved_port_is_given_to_nobody_else() -> None:
    """Neither a bind to that port nor a bind to any free port gets it."""
    with reserve_port() as held, socket.socket() as other:
        with pytest.raises(OSError, match="in use") as refused:
            other.bind(("127.0.0.1", port_number(held)))
        assert refused.value.errno == errno.EADDRINUSE


def test_a_server_listens_on_a_reserved_port(tmp_path: Path) -> None:
    """The reservation ends with its context."""
    with reserve_port() as held:
        port = port_number(held)
        command = [*valkey.command(tmp_path, tmp_path / "valkey.sock"), "--port", str(port)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
            with redis.Redis(unix_socket_path=str(tmp_path / "valkey.sock")) as client:
                while True:
                    try:
                        client.ping()
                        break
                    except redis.ConnectionError:
                        assert server.poll() is None, "it could not listen"
            with redis.Redis(port=port) as client:
                assert client.ping()
            server.kill()
