"""The network of a world: who listens where, and which hosts cannot reach which."""

import asyncio
import random
from typing import Any, Final, Self

from world.clock import PROCESS
from world.connections import Endpoint, Factory, KernelSocket, Pipe
from world.loop import Host, Process, WorldLoop

#: Seconds between two tries to connect through a partition.
_SYN_SECONDS: Final = 1.0
_FIRST_PORT: Final = 40_000


class Network:
    """Hosts by name, who listens on them, and which hosts cannot reach which."""

    def __init__(self, loop: WorldLoop, chance: random.Random) -> None:
        self.loop = loop
        self.chance = chance
        self.hosts: dict[str, Host] = {}
        self._listeners: dict[tuple[str, int], _Listener] = {}
        #: Directions from one host to another in which nothing arrives.
        self._cut: set[tuple[str, str]] = set()
        #: Seconds that bytes of a direction take beside the usual ones.
        self.delays: dict[tuple[str, str], float] = {}
        self._endpoints: dict[Process, dict[Endpoint, None]] = {}
        self._port = _FIRST_PORT

    def cut(self, source: str, target: str) -> None:
        """Lets nothing arrive at `target` from `source`."""
        self._cut.add((source, target))

    def heal(self, source: str, target: str) -> None:
        """Lets bytes arrive again, those that waited first."""
        self._cut.discard((source, target))
        for endpoints in [*self._endpoints.values()]:
            for endpoint in [*endpoints]:
                endpoint.outgoing.release()

    def is_cut(self, source: str, target: str) -> bool:
        """Returns whether a direction carries nothing."""
        return (source, target) in self._cut

    def latency(self, source: str, target: str) -> float:
        """Returns the seconds that a segment takes."""
        return self.chance.uniform(0.000_1, 0.001) + self.delays.get((source, target), 0.0)

    def listen(self, factory: Factory, port: int | None) -> "_Listener":
        """Listens on a port of the present process's host."""
        process = PROCESS.get()
        key = process.host.name, port or self._free_port()
        if key in self._listeners and self._listeners[key].process.is_alive:
            raise OSError(f"port {port} of {process.host.name} is taken")
        listener = self._listeners[key] = _Listener(self, process, factory, key)
        return listener

    def forget(self, listener: "_Listener") -> None:
        """Refuses new connections."""
        if self._listeners.get(listener.key) is listener:
            del self._listeners[listener.key]

    async def connect(self, factory: Factory, host: str, port: int) -> tuple[Any, Any]:
        """Connects the present process to a port of a host, named or by its address. Raises OSError.

        It waits while a partition lasts.
        """
        process = PROCESS.get()
        host = next((name for name, each in self.hosts.items() if each.address == host), host)
        connected: asyncio.Future[Endpoint] = self.loop.create_future()
        self.loop.call_later(
            self.latency(process.host.name, host), self._knock, process, host, port, connected,
            context=self.loop.nobody.context,
        )  # fmt: skip
        try:
            endpoint = await connected
        except asyncio.CancelledError:
            if connected.done() and not connected.cancelled() and connected.exception() is None:
                connected.result().abort()
            raise
        protocol: Any = factory()
        endpoint.open(protocol)
        return endpoint, protocol

    def _knock(self, process: Process, host: str, port: int, connected: "asyncio.Future[Endpoint]") -> None:
        here = process.host.name
        if connected.done() or not process.is_alive:
            return
        if self.is_cut(here, host) or self.is_cut(host, here) or not self.hosts[host].has_power:
            self.loop.call_later(_SYN_SECONDS, self._knock, process, host, port, connected)
            return
        listener = self._listeners.get((host, port))
        if listener is None or not listener.process.is_alive:
            connected.set_exception(ConnectionRefusedError(f"nobody listens on port {port} of {host}"))
            return
        client, server = self._pair(process, listener, port)
        listener.process.call(server.accept, listener.factory)
        connected.set_result(client)

    def _pair(self, process: Process, listener: "_Listener", port: int) -> "tuple[Endpoint, Endpoint]":
        near = process.host.address, self._free_port()
        far = listener.process.host.address, port
        client = Endpoint(self, process, near, far)
        server = Endpoint(self, listener.process, far, near)
        client.outgoing, server.outgoing = Pipe(self, client, server), Pipe(self, server, client)
        client.peer, server.peer = server, client
        for each in (client, server):
            self._endpoints.setdefault(each.process, {})[each] = None
        return client, server

    def leave(self, endpoint: "Endpoint") -> None:
        """Forgets a closed connection."""
        self._endpoints.get(endpoint.process, {}).pop(endpoint, None)

    def end(self, process: Process, *, silently: bool) -> None:
        """Ends the connections of a killed process; silently if its machine lost power."""
        for key, listener in [*self._listeners.items()]:
            if listener.process is process:
                del self._listeners[key]
        endpoints = self._endpoints.pop(process, {})
        self.loop.remains.append(endpoints)
        for endpoint in endpoints:
            endpoint.die(silently=silently)

    def reset(self, host: str, other: str) -> None:
        """Resets the connections between two hosts, on both sides."""
        found = [
            endpoint
            for process, endpoints in self._endpoints.items()
            if process.host.name == host
            for endpoint in endpoints
            if endpoint.peer.process.host.name == other
        ]
        for endpoint in found:
            endpoint.fail()
            endpoint.peer.fail()

    def _free_port(self) -> int:
        self._port += 1
        return self._port


class _Listener:
    """A listening port."""

    def __init__(self, network: Network, process: Process, factory: Factory, key: tuple[str, int]) -> None:
        self.process = process
        self.factory = factory
        self.key = key
        self._network = network
        self.sockets = [KernelSocket(None, (process.host.address, key[1]))]

    def close(self) -> None:
        """Refuses new connections; those that are open stay."""
        self._network.forget(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def wait_closed(self) -> None:
        """Returns at once."""
