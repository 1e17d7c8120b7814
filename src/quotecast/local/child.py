"""One run of a child process: start, readiness, output, stop."""

import asyncio
import collections
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Self

from msgspec import Struct, field

from quotecast import parent
from quotecast.errors import QuotecastError
from quotecast.local import console
from quotecast.local.probes import NoAnswer

_Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class ProcessSpec(Struct, frozen=True, kw_only=True):
    """The specification of one process of the service."""

    name: str
    command: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    #: Ends or removes what an earlier process left; runs before each start and after each end.
    clear_up: Callable[[], None] = lambda: None
    #: Returns a line on what the process serves, or raises NoAnswer; without it the process announces itself.
    probe: Callable[[], Awaitable[str]] | None = None
    #: The process's system user, with a group of the same name; None means the user who started `up`.
    user: str | None = None
    #: The descriptor of its open lock file: see `locks`.
    lock: int | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    #: Seconds from that signal to SIGKILL.
    stop_seconds: float = 2.0
    #: Seconds from its start until it must serve.
    ready_seconds: float = 60.0
    #: Seconds without a heartbeat (`quotecast.parent`); after two such periods it counts as hung. Processes
    #: with a probe send no heartbeats.
    silence_seconds: float = 5.0


class Child:
    """A started process; the caller must `stop` it, even if it has ended."""

    def __init__(
        self, part: ProcessSpec, process: asyncio.subprocess.Process, link: _Stream, output: _Stream
    ) -> None:
        self._spec = part
        self._process = process
        self._link = link
        self._output = output
        self._passing_on = asyncio.create_task(self._pass_on_output())
        self.last_lines: collections.deque[str] = collections.deque(maxlen=5)

    @classmethod
    async def start(cls, part: ProcessSpec) -> Self:
        """Starts the process in its own session, so that Ctrl-C reaches only `up`."""
        part.clear_up()
        link, their_link = socket.socketpair()
        # Not asyncio's pipe: it reports the end of a process only after the end of that process's children.
        output, their_output = socket.socketpair()
        with their_link, their_output:
            streams = [await asyncio.open_connection(sock=end) for end in (link, output)]
            try:
                process = await _spawn(part, their_link.fileno(), their_output.fileno())
            except BaseException:
                await _close(*streams)
                raise
        return cls(part, process, *streams)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    async def wait_ready(self) -> str | None:
        """Returns the process's line on what it serves; None if it ends first or takes too long."""
        probe = self._spec.probe
        readiness = asyncio.create_task(_probe_until_ready(probe) if probe else self._read_announcement())
        ending = asyncio.create_task(self._process.wait())
        try:
            done, _ = await asyncio.wait(
                {readiness, ending},
                timeout=self._spec.ready_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            return readiness.result() if readiness in done else None
        finally:
            readiness.cancel()
            ending.cancel()

    async def wait_or_kill(self) -> None:
        """Returns after the process's end; kills it if it hangs, for it would keep its share of the port."""
        ending = asyncio.create_task(self._process.wait())
        hanging = asyncio.create_task(self._wait_until_hung())
        try:
            await asyncio.wait({ending, hanging}, return_when=asyncio.FIRST_COMPLETED)
            if not ending.done():
                console.pass_on(self._spec.name, "hangs, without a heartbeat; killing it")
                self._process.kill()
        finally:
            ending.cancel()
            hanging.cancel()

    async def wait_end(self) -> str:
        """Waits for the process's end; returns its exit code or the signal's name."""
        code = await self._process.wait()
        return f"exit code {code}" if code >= 0 else signal.Signals(-code).name

    async def stop(self) -> None:
        """Sends the stop signal, and after `stop_seconds` kills the process and its children."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(self._spec.stop_signal)
        # Not asyncio.timeout: this task is being cancelled, and in Python 3.11.2 the time-out would cancel
        # it again.
        ending = asyncio.create_task(self._process.wait())
        await asyncio.wait({ending}, timeout=self._spec.stop_seconds)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        await ending
        self._spec.clear_up()
        await asyncio.wait({self._passing_on}, timeout=1)
        self._passing_on.cancel()
        await _close(self._link, self._output)

    async def _read_announcement(self) -> str | None:
        line = await self._link[0].readline()
        if not line:
            await self._process.wait()
            return None
        return line.decode(errors="replace").strip()

    async def _wait_until_hung(self) -> None:
        silences = 0
        # One silence may be our own: after a pause of this process, the beats of that time are still unread.
        while silences < 2:
            try:
                async with asyncio.timeout(None if self._spec.probe else self._spec.silence_seconds):
                    beats = await self._link[0].read(4096)
            except TimeoutError:
                silences += 1
            else:
                silences = 0
                if not beats:
                    # The link ends with the process, for which `wait_or_kill` waits too.
                    await asyncio.Event().wait()

    async def _pass_on_output(self) -> None:
        async for line in _lines(self._output[0]):
            self.last_lines.append(line)
            console.pass_on(self._spec.name, line)


async def _spawn(part: ProcessSpec, link: int, output: int) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *part.command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, **part.environment, parent.VARIABLE: str(link)},
            pass_fds=[link] if part.lock is None else [link, part.lock],
            user=part.user,
            group=part.user,
            extra_groups=[] if part.user else None,
            start_new_session=True,
        )
    except OSError as error:
        raise QuotecastError(f"{part.name} cannot be started: {error}") from error


async def _close(*streams: _Stream) -> None:
    for _, writer in streams:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _probe_until_ready(probe: Callable[[], Awaitable[str]]) -> str:
    while True:
        try:
            return await probe()
        except NoAnswer:
            await asyncio.sleep(0.05)


async def _lines(output: asyncio.StreamReader) -> AsyncIterator[str]:
    # Not readline: it raises on a line longer than its buffer, and the child's output would then block.
    rest = b""
    while block := await output.read(65536):
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield line.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")
