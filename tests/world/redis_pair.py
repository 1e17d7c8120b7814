"""A master of Redis and its replica in a world, and what a failover does to both."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from world.faults import Fault
from world.redis_data import Data
from world.redis_server import RedisServer

if TYPE_CHECKING:
    from world.world import World

#: Parts of a crash's seconds after which the others agree that the master is gone, and promote its replica.
_GONE, _PROMOTED = 0.4, 0.7


class Pair:
    """Two servers on hosts of their own: the first is the master until a failover.

    `on_promotion` is called after each promotion, `on_loss` when the others agree that there is no master.
    """

    def __init__(
        self,
        world: "World",
        servers: Mapping[str, RedisServer],
        first: str,
        second: str,
        *,
        on_promotion: Callable[[], object],
        on_loss: Callable[[], object] = lambda: None,
    ) -> None:
        self._world = world
        self._servers = servers
        self.master, self.replica = first, second
        self._on_promotion = on_promotion
        self._on_loss = on_loss
        #: The history and the data of the last copy; a failover loses newer writes.
        self._copied: tuple[int, Data] | None = None
        #: Ends the failover under way.
        self._end: Callable[[], None] | None = None
        servers[second].follow(servers[first])

    def copy_data(self) -> None:
        """Remembers what the replica has now."""
        server = self._server(self.master)
        self._copied = server.history, server.copy_of_data()

    def lose_data(self) -> Callable[[], None]:
        """Restarts the master empty, before anybody notices; returns what ends its absence."""
        self.settle()
        host = self.master
        self._kill(host)
        self._server(host).restart(None)
        self._server(self.replica).data = self._server(host).data
        self._world.note_loss(self._server(host))
        return self._ending(lambda: self._world.start_again(host))

    def fail_over(self, fault: Fault) -> Callable[[], None]:
        """Makes the replica the master; returns what makes the former master its replica.

        After a `crash`, a `power loss` or a `freeze` the master is gone, and its replica promoted after a
        while; a frozen master learns of it when it thaws. A `planned` failover demotes the master at once,
        with its connections open; a `split` leaves two masters until its end.
        """
        self.settle()
        former, has_died = self.master, fault.detail in {"crash", "power loss"}
        if has_died:
            self._kill(former, silently=fault.detail == "power loss")
        elif fault.detail == "freeze":
            self._world.processes[former].freeze()
        votes: list[asyncio.TimerHandle] = []
        if has_died or fault.detail == "freeze":
            for part, outcome in ((_GONE, self._lose), (_PROMOTED, self._promote)):
                votes.append(self._world.loop.call_later(fault.seconds * part, outcome, former))
        else:
            self._promote(former)
        if fault.detail == "planned":
            self._demote(former)

        def end() -> None:
            # The next fault of the pair may end this one before the votes.
            for vote in votes:
                vote.cancel()
            self._promote(former)
            if has_died:
                self._server(former).restart(None)
                self._server(former).follow(self._server(self.master))
                self._world.start_again(former)
            elif fault.detail != "planned":
                self._demote(former)
                self._world.processes[former].thaw()

        return self._ending(end)

    def _lose(self, former: str) -> None:
        if self.master == former:
            self._on_loss()

    def _promote(self, former: str) -> None:
        if self.master != former:
            return
        self.master, self.replica = self.replica, former
        old, new = self._server(former), self._server(self.master)
        if self._copied is None or self._copied[0] != old.history:
            self._copied = old.history, old.copy_of_data()
        old.replica = None
        new.lead(self._copied[1])
        self._world.note_loss(new)
        self._on_promotion()

    def _demote(self, former: str) -> None:
        # In a turn of its own: a frozen server learns of it later.
        self._world.processes[former].call(self._follow, former)

    def _follow(self, former: str) -> None:
        if self.replica == former:
            self._server(former).follow(self._server(self.master))

    def settle(self) -> None:
        """Ends what is under way."""
        if self._end is not None:
            self._end()

    def _ending(self, end: Callable[[], object]) -> Callable[[], None]:
        """Returns what ends a fault, once: the next fault of the pair does so if it comes first."""

        def finish() -> None:
            if self._end is finish:
                self._end = None
                end()

        self._end = finish
        return finish

    def _kill(self, host: str, *, silently: bool = False) -> None:
        if self._world.processes[host].is_alive:
            self._world.kill(host, silently=silently)

    def _server(self, host: str) -> RedisServer:
        return self._servers[host]
