"""The event loop of a world: it has the turns of all processes, in an order that a seed draws.

Each process has a queue of its own, as on its own event loop: a turn runs what is ready in it. Between
processes only the network passes anything on. Time stands still during a turn and jumps to the next timer
when no process has anything to do.
"""

import asyncio
import heapq
import random
import weakref
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from contextvars import Context, copy_context
from functools import partial
from typing import Any, Final, cast

from world.clock import PROCESS

#: Seconds of one turn, so that no loop runs without end at one moment.
_TURN_SECONDS: Final = 0.000_01


class WorldOverError(Exception):
    """Nothing will ever happen again: no process runs, and no timer is set."""


class Host:
    """A machine: its processes come and go, its name, address and clock stay."""

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self.address = address
        #: Seconds by which its wall clock is ahead, beside its drift.
        self.clock_offset = 0.0
        self._rate = 1.0
        #: A second of the world, and what the host's clocks showed then.
        self._known = 0.0, 0.0
        #: A machine without power answers nothing, and refuses nothing.
        self.has_power = True
        #: Whether its programs are of a newer release.
        self.is_newer = False

    def drift(self, now: float, factor: float) -> None:
        """Lets its clocks run so many times as fast from a second of the world on.

        Timers that are set keep their end, which its clocks then reach a little early or late.
        """
        self._known = now, self.seconds_at(now)
        self._rate *= factor

    def seconds_at(self, now: float) -> float:
        """Returns the seconds since the world began that its clocks show at a second of the world."""
        world, own = self._known
        return own + (now - world) * self._rate

    def world_seconds(self, own: float) -> float:
        """Returns the second of the world at which its clocks show a number of seconds."""
        world, known = self._known
        return world + (own - known) / self._rate


class Process:
    """One run of a program on a host."""

    def __init__(self, loop: "WorldLoop", host: Host) -> None:
        self.host = host
        self.is_alive = True
        self._is_frozen = False
        self._ready: deque[asyncio.Handle] = deque()
        #: Whether it is among those that wait for a turn.
        self._is_waiting = False
        self.context: Context = copy_context()
        self.context.run(PROCESS.set, self)
        self.tasks: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()
        #: What a worker serves.
        self.parts: Any = None
        self.http: Any = None
        self._loop = loop

    def run(self, program: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Starts a coroutine in this process."""
        task: asyncio.Task[None] = self._loop.create_task(program, context=self.context.copy())
        return task

    def call(self, callback: Callable[..., object], *arguments: object) -> None:
        """Calls a function in a later turn of this process."""
        self._loop.call_soon(callback, *arguments, context=self.context)

    def take(self, handle: asyncio.Handle) -> None:
        """Adds a callback to the queue; that of a killed process never runs."""
        self._ready.append(handle)
        self._wait()

    def take_turn(self) -> None:
        """Runs what is ready now, unless the process is frozen."""
        self._is_waiting = False
        if self._is_frozen:
            return
        ready = self._ready
        for _ in range(len(ready)):
            if not ready:  # the process was killed by itself
                break
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()
        self._wait()

    def freeze(self) -> None:
        """Gives the process no turns; what becomes ready waits."""
        self._is_frozen = True

    def thaw(self) -> None:
        """Lets a frozen process go on."""
        self._is_frozen = False
        self._wait()

    def kill(self) -> None:
        """Ends the process at once: no `finally` runs."""
        self.is_alive = False
        self._loop.remains += [*self._ready, *self.tasks]
        self._ready.clear()

    def _wait(self) -> None:
        if self._ready and self.is_alive and not self._is_waiting and not self._is_frozen:
            self._is_waiting = True
            self._loop.waiting.append(self)


class _Task(asyncio.Task[Any]):
    """A task whose place in a set, such as a group's, does not follow from its address."""

    def __init__(self, coro: Any, *, loop: "WorldLoop", context: Context | None = None) -> None:
        loop.tasks_made += 1
        self._number = loop.tasks_made
        super().__init__(coro, loop=loop, context=context)

    @classmethod
    def of(cls, loop: "WorldLoop", coro: Any, context: Context | None = None) -> "_Task":
        """Makes a task, as `asyncio` asks for it."""
        return cls(coro, loop=loop, context=context)

    def __hash__(self) -> int:
        return self._number


class WorldLoop(asyncio.BaseEventLoop):
    """An event loop without threads, sockets and signals.

    `now` are the seconds since the world began; `time` is what the clock of the present process's host says.
    """

    network: Any

    def __init__(self, order: random.Random) -> None:
        super().__init__()
        self.now = 0.0
        self._order = order
        #: The processes in which something is ready.
        self.waiting: list[Process] = []
        #: What killed processes held. Nothing of it may run, not even when it is collected.
        self.remains: list[object] = []
        self._timers: list[tuple[float, int, asyncio.TimerHandle | partial[None]]] = []
        self._timers_made = 0
        self.tasks_made = 0
        self.set_task_factory(cast("Any", _Task.of))
        #: Whatever belongs to no process: the network, the faults and the checks.
        self.nobody = Process(self, Host("world", "10.0.0.0"))

    def time(self) -> float:
        """Returns the seconds since the world began, by the clock of the present process's host."""
        return self._of(None).host.seconds_at(self.now)

    def create_task(self, coro: Any, *, name: Any = None, context: Context | None = None) -> Any:
        """Creates a task of its context's process."""
        task = super().create_task(coro, name=name, context=context)
        self._of(context).tasks.add(task)
        return task

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *arguments: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Adds a callback to the queue of its process."""
        handle = asyncio.Handle(callback, arguments, self, context)
        self._of(context).take(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *arguments: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Adds a timer; the delay is by the clock of its process's host."""
        when = self._of(context).host.seconds_at(self.now) + delay
        return self.call_at(when, callback, *arguments, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *arguments: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Adds a timer, by the clock of its process's host."""
        handle = asyncio.TimerHandle(when, callback, arguments, self, context)
        self._add_timer(self._of(context).host.world_seconds(when), handle)
        cast("Any", handle)._scheduled = True
        return handle

    def deliver_at(self, when: float, callback: Callable[..., None], *arguments: Any) -> None:
        """Calls a function of the network at a second of the world, between the turns of all processes."""
        self._add_timer(when, partial(callback, *arguments))

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Calls the function at once: threads have no order that a seed could draw."""
        del executor
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - the caller gets it
            done.set_exception(error)
        return done

    async def create_connection(
        self, protocol_factory: Any, host: Any = None, port: Any = None, **_: Any
    ) -> Any:
        """Connects to a host of the world."""
        return await self.network.connect(protocol_factory, host, port)

    async def create_server(self, protocol_factory: Any, host: Any = None, port: Any = None, **_: Any) -> Any:
        """Listens on a port of the process's host, whatever the address."""
        del host
        return self.network.listen(protocol_factory, port)

    def add_signal_handler(self, sig: int, callback: Any, *args: Any) -> None:  # type: ignore[override]
        """Does nothing: the world stops a program by cancelling it."""

    def remove_signal_handler(self, sig: int) -> bool:
        """Does nothing."""
        del sig
        return False

    def _of(self, context: Context | None) -> Process:
        """Returns the process of a context, or of the present one."""
        process = PROCESS.get(None) if context is None else context.get(PROCESS)
        return process or self.nobody

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Leaves the timer in the queue, which skips it when it is due."""

    def _process_events(self, event_list: object) -> None:
        """Does nothing: there are no descriptors."""

    def _write_to_self(self) -> None:
        """Does nothing: there are no threads."""

    def _add_timer(self, due: float, timer: asyncio.TimerHandle | partial[None]) -> None:
        self._timers_made += 1
        heapq.heappush(self._timers, (due, self._timers_made, timer))

    def _run_once(self) -> None:
        """Gives one process a turn."""
        waiting = self.waiting
        while not waiting:
            if not self._timers:
                raise WorldOverError
            self.now = max(self.now, self._timers[0][0])
            self._take_due()
        place = int(self._order.random() * len(waiting))
        process, waiting[place] = waiting[place], waiting[-1]
        waiting.pop()
        process.take_turn()
        self.now += _TURN_SECONDS
        self._take_due()

    def _take_due(self) -> None:
        timers = self._timers
        while timers and timers[0][0] <= self.now:
            timer = heapq.heappop(timers)[2]
            if isinstance(timer, partial):
                timer()
            elif not timer._cancelled:
                process: Process = cast("Any", timer)._context.get(PROCESS) or self.nobody
                if process.is_alive:
                    process.take(timer)
