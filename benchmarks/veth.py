"""A veth pair between two network namespaces, in place of the loopback interface.

On loopback the kernel runs the receiver's TCP inside the server's `send`, on the server's core and on its
account. A veth pair alone does the same. Receive packet steering (`rps_cpus`) moves the receiver's part to
the core of the listeners, as with two machines.

`run` starts the benchmarks again inside the servers' namespace; there `LISTENERS` starts a listener in the
other one.
"""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

from benchmarks.processes import LOAD_CORE, SERVER_CORE

#: Addresses of documentation (RFC 5737), which no network uses.
SERVERS: Final = "192.0.2.1"
_LISTENERS: Final = "192.0.2.2"
#: In the environment of a run inside the servers' namespace: the name of the listeners' namespace.
_VARIABLE: Final = "BENCH_LISTENERS_NAMESPACE"


class VethError(Exception):
    """The machine does not allow network namespaces, or lacks the programs to make them."""


class End(Struct, frozen=True):
    """One end of the pair; its packets are received on one core."""

    namespace: str
    address: str
    core: int

    @property
    def inside(self) -> list[str]:
        """The words that start a command inside the namespace."""
        return ["ip", "netns", "exec", self.namespace]


def is_inside() -> bool:
    """Returns whether this process runs in the servers' namespace."""
    return _VARIABLE in os.environ


def listeners_prefix() -> list[str]:
    """Returns the words that start a command in the listeners' namespace."""
    return ["ip", "netns", "exec", os.environ[_VARIABLE]]


def run(command: Sequence[str]) -> int:
    """Runs a command in the servers' namespace; returns its exit code. Raises VethError."""
    servers = End(f"bench-servers-{os.getpid()}", SERVERS, SERVER_CORE)
    listeners = End(f"bench-listeners-{os.getpid()}", _LISTENERS, LOAD_CORE)
    # Ctrl-C ends the command, which cleans up first; this process then removes the namespaces.
    signal.signal(signal.SIGINT, lambda *_: None)
    with _namespace(servers.namespace), _namespace(listeners.namespace):
        _connect(servers, listeners)
        # Nobody else sees this namespace, so servers may listen on all of its addresses.
        environment = {**os.environ, _VARIABLE: listeners.namespace, "BENCH_HOST": "0.0.0.0"}  # noqa: S104
        return subprocess.run([*servers.inside, *command], env=environment, check=False).returncode


@contextmanager
def _namespace(name: str) -> Iterator[None]:
    _ip("netns", "add", name)
    try:
        yield
    finally:
        _ip("netns", "delete", name)


def _connect(servers: End, listeners: End) -> None:
    pair = ["veth0", "type", "veth", "peer", "name", "veth0", "netns", listeners.namespace]
    _ip("-n", servers.namespace, "link", "add", *pair)
    for end in (servers, listeners):
        _ip("-n", end.namespace, "address", "add", f"{end.address}/24", "dev", "veth0")
        for device in ("lo", "veth0"):
            _ip("-n", end.namespace, "link", "set", device, "up")
        steering = f"echo {1 << end.core:x} > /sys/class/net/veth0/queues/rx-0/rps_cpus"
        _do([*end.inside, "sh", "-c", steering])


def _ip(*words: str) -> None:
    _do(["ip", *words])


def _do(command: Sequence[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise VethError("--veth needs the program ip (Debian's iproute2)") from None
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip()
        raise VethError(
            f"--veth needs root and network namespaces; `{' '.join(command)}` failed: {reason}"
        ) from None
