"""A Valkey cluster of three masters, for tests; more nodes may wait to become replicas."""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import redis

from quotecast.local import valkey
from support.servers.reserved import port_number, reserve_port
from support.servers.sentinel_set import until

NODES: Final = 3
SLOTS: Final = 16_384

#: The nodes' processes by their ports.
Nodes = dict[int, "subprocess.Popen[bytes]"]


def command(folder: Path, port: int, bus_port: int) -> list[str]:
    """Returns a node's command line: on ports, because a cluster needs them."""
    return [
        *valkey.command(folder, folder / "valkey.sock"),
        *("--bind", "127.0.0.1", "--port", str(port)),
        # A node forgets another that does not answer its one MEET within the time-out.
        *("--cluster-enabled", "yes", "--cluster-port", str(bus_port), "--cluster-node-timeout", "60000"),
    ]


def join(ports: list[int], bus_ports: list[int]) -> None:
    """Gives each node its share of the slots and joins it to the first."""
    # Its commands have no types.
    clients: list[Any] = [redis.Redis(port=port) for port in ports]
    for client in clients:
        until(client.ping, "a node does not answer")
    for number, client in enumerate(clients):
        first, last = SLOTS * number // NODES, SLOTS * (number + 1) // NODES - 1
        # Else all begin with one epoch. Two nodes that share it still, when one becomes the other's replica,
        # keep it, and the others believe no takeover.
        client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        if number < NODES:
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
        client.execute_command("CLUSTER", "MEET", "127.0.0.1", ports[0], bus_ports[0])
    for client in clients:
        until(partial(is_whole, client), "the nodes do not find each other")
        client.close()


def is_whole(client: Any) -> bool:
    about = client.execute_command("CLUSTER INFO")
    return (about["cluster_state"], about["cluster_size"]) == ("ok", str(NODES))


@contextlib.contextmanager
def running_cluster(spare: int = 0) -> Iterator[Nodes]:
    """Gives the nodes' processes by port; the spare ones, which hold no slots yet, come last."""
    count = NODES + spare
    started = {}
    with contextlib.ExitStack() as stack:
        ports = [port_number(stack.enter_context(reserve_port())) for _ in range(2 * count)]
        own, bus = ports[:count], ports[count:]
        for port, bus_port in zip(own, bus, strict=True):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="qc")))
            process = subprocess.Popen(command(folder, port, bus_port), stdout=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.kill)
            started[port] = process
        join(own, bus)
        yield started


def follows(replica: Any, primary: bytes) -> bool:
    """Makes a node the primary's replica, and returns whether it is synchronised."""
    replica.execute_command("CLUSTER", "REPLICATE", primary)
    return bool(replica.info("replication")["master_link_status"] == "up")
