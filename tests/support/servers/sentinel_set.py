"""A Valkey master and its replica, alone or with three Sentinels, for tests of failovers."""

import contextlib
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import redis

from quotecast.local import valkey
from support.runs.deadlines import scaled
from support.runs.waits import wait_until
from support.servers.reserved import port_number, reserve_port

SERVICE: Final = "quotes"
SENTINELS: Final = 3
PATIENCE_SECONDS: Final = 60.0
#: Sentinel's timeouts: until it declares a silent master down, and for one attempt of a failover.
DOWN_MILLISECONDS: Final = 1000
FAILOVER_MILLISECONDS: Final = 5000


@dataclass(frozen=True)
class Identity:
    """A certificate that signs itself, with its key: servers show it, and accept only clients that do."""

    certificate: Path

    @property
    def options(self) -> dict[str, Any]:
        """Returns a client's options."""
        key = str(self.certificate.with_name("key.pem"))
        certificate = str(self.certificate)
        return {"ssl_ca_certs": certificate, "ssl_certfile": certificate, "ssl_keyfile": key}

    @property
    def settings(self) -> dict[str, str]:
        """Returns a server's or a Sentinel's settings."""
        client = self.options
        return {
            "tls-ca-cert-file": client["ssl_ca_certs"],
            "tls-cert-file": client["ssl_certfile"],
            "tls-key-file": client["ssl_keyfile"],
            "tls-auth-clients": "yes",
            "tls-replication": "yes",
        }


class Server:
    """A process of the set, with a reserved port."""

    def __init__(self, folder: Path, port: int, identity: "Identity | None" = None) -> None:
        self.folder = folder
        self.port = port
        self.password: str | None = None
        self._identity = identity
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *arguments: str) -> None:
        socket = self.folder / "valkey.sock"
        ours = [*valkey.command(self.folder, socket), "--bind", "127.0.0.1"]
        for name, value in self._listening().items():
            ours += [f"--{name}", value]
        # A new replica gets the data at once, not after five seconds.
        self._run([*ours, "--repl-diskless-sync-delay", "0", *arguments])

    def start_sentinel(self, master: int, *lines: str, down_milliseconds: int = DOWN_MILLISECONDS) -> None:
        """Starts as a Sentinel of the master at that port; `lines` are more of its configuration."""
        file = self.folder / "sentinel.conf"
        listening = "".join(f"{name} {value}\n" for name, value in self._listening().items())
        file.write_text(
            f"{listening}bind 127.0.0.1\ndir {self.folder}\n"
            f"sentinel monitor {SERVICE} 127.0.0.1 {master} {SENTINELS // 2 + 1}\n"
            f"sentinel down-after-milliseconds {SERVICE} {down_milliseconds}\n"
            f"sentinel failover-timeout {SERVICE} {FAILOVER_MILLISECONDS}\n" + "\n".join(lines)
        )
        [binary, *_] = valkey.version_command()
        self._run([binary, str(file), "--sentinel"])

    def ask(self, *words: str | int | bytes) -> Any:
        """Runs one command on its own connection."""
        options: dict[str, Any] = {"socket_timeout": scaled(2), "protocol": 2, "password": self.password}
        if self._identity:
            options |= {"ssl": True, **self._identity.options}
        with redis.Redis("127.0.0.1", self.port, **options) as client:
            return client.execute_command(*words)

    def _listening(self) -> Mapping[str, str]:
        """Returns the settings of ports and TLS."""
        if not self._identity:
            return {"port": str(self.port)}
        return {"port": "0", "tls-port": str(self.port), **self._identity.settings}

    def is_master(self) -> bool:
        return bool(self.ask("ROLE")[0] == b"master")

    def follows(self, port: int) -> bool:
        """Returns whether it is a replica of the server at that port and has all of its data."""
        role = self.ask("ROLE")
        return bool(role[0] == b"slave" and (role[2], role[3]) == (port, b"connected"))

    def kill(self) -> None:
        """Ends the process as a crash would, without a save."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def _run(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: bool(self.ask("PING")), f"the server on port {self.port} does not answer")


class Pair:
    """A master and its replica."""

    def __init__(self, master: Server, replica: Server) -> None:
        self.master = master
        self.replica = replica

    @property
    def url(self) -> str:
        """Returns the URL of the present master."""
        return f"redis://127.0.0.1:{self.master.port}"

    def start(self) -> None:
        self.master.start()
        self.replica.start("--replicaof", f"127.0.0.1 {self.master.port}")
        self.until_whole()

    def swap(self) -> float:
        """Swaps master and replica by hand, with every connection open; returns the Unix time of the swap."""
        self.replica.ask("REPLICAOF", "NO", "ONE")
        self.master.ask("REPLICAOF", "127.0.0.1", self.replica.port)
        return self.wait_for_promotion()

    def wait_for_promotion(self) -> float:
        """Waits until the replica is the master; returns the Unix time."""
        return self._until_promoted(self.replica.is_master)

    def _until_promoted(self, holds: Callable[[], bool]) -> float:
        until(holds, "the replica is not promoted")
        promoted = time.time()
        self.master, self.replica = self.replica, self.master
        return promoted

    def restart(self) -> None:
        """Restarts the dead server as a replica."""
        self.replica.start("--replicaof", f"127.0.0.1 {self.master.port}")
        self.until_whole()

    def until_whole(self) -> None:
        """Waits until one server follows the other, and notes which.

        Each fault begins so, because Sentinels may swap them at any time on a machine that stalls.
        """
        until(self._is_whole, "no server follows the other")

    def _is_whole(self) -> bool:
        for master, replica in ((self.master, self.replica), (self.replica, self.master)):
            if master.is_master() and replica.follows(master.port):
                self.master, self.replica = master, replica
                return True
        return False


class SentinelSet(Pair):
    """A pair with Sentinels; `url` names the Sentinels."""

    def __init__(
        self,
        master: Server,
        replica: Server,
        sentinels: list[Server],
        identity: Identity | None = None,
        down_milliseconds: int = DOWN_MILLISECONDS,
    ) -> None:
        super().__init__(master, replica)
        self.sentinels = sentinels
        self._identity = identity
        self._down_milliseconds = down_milliseconds

    @property
    def url(self) -> str:
        """Returns the URL for the setting."""
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in self.sentinels)
        if self._identity:
            return f"rediss+sentinel://{hosts}/{SERVICE}?{urlencode(self._identity.options)}"
        return f"redis+sentinel://{hosts}/{SERVICE}"

    def start(self) -> None:
        self.master.start()
        self.replica.start("--replicaof", f"127.0.0.1 {self.master.port}")
        until(self._is_whole, "the replica does not follow")
        for sentinel in self.sentinels:
            sentinel.start_sentinel(self.master.port, down_milliseconds=self._down_milliseconds)
        self.until_whole()

    def failover(self, how: str = "COORDINATED", *, by: Server | None = None) -> float:
        """Makes a Sentinel swap master and replica, both of which live on; returns the Unix time.

        Without `COORDINATED` the old master takes writes for about eight more seconds. A Sentinel that the
        others do not elect gives up after a timeout, and is asked again.
        """
        super().until_whole()
        sentinel = by or self.sentinels[0]

        def promoted() -> bool:
            if self.replica.is_master():
                return True
            known = _known(sentinel)
            if int(known["port"]) == self.master.port and "failover_in_progress" not in known["flags"]:
                sentinel.ask("SENTINEL", "FAILOVER", SERVICE, *how.split())
            return False

        return self._until_promoted(promoted)

    def kill_master(self) -> float:
        """Kills the master; returns the Unix time at which its replica was promoted."""
        super().until_whole()
        self.master.kill()
        return self.wait_for_promotion()

    def freeze_master(self) -> float:
        """Freezes the master; returns the Unix time at which its replica was promoted."""
        super().until_whole()
        self.master.freeze()
        return self.wait_for_promotion()

    def thaw(self) -> None:
        """Thaws the former master, and waits until it follows the new one."""
        self.replica.thaw()
        self.until_whole()

    def until_whole(self) -> None:
        """Waits until one server follows the other, and all Sentinels agree on the master."""
        until(
            lambda: self._is_whole() and all(map(self._knows, self.sentinels)), "the Sentinels do not agree"
        )

    def _knows(self, sentinel: Server) -> bool:
        known = _known(sentinel)
        wanted = {"port": self.master.port, "num-other-sentinels": SENTINELS - 1, "num-slaves": 1}
        return {name: int(known[name]) for name in wanted} == wanted


def _known(sentinel: Server) -> dict[str, str]:
    """Returns what a Sentinel knows of the master."""
    flat = sentinel.ask("SENTINEL", "MASTER", SERVICE)
    about = flat if isinstance(flat, dict) else dict(zip(flat[::2], flat[1::2], strict=True))
    return {_text(key): _text(value) for key, value in about.items()}


@contextlib.contextmanager
def own_servers(count: int, identity: Identity | None = None) -> Iterator[list[Server]]:
    """Yields servers with their own folders and ports, not yet started; stops them at the end."""
    with contextlib.ExitStack() as stack:
        servers = [
            Server(
                Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="qc"))),
                port_number(stack.enter_context(reserve_port())),
                identity,
            )
            for _ in range(count)
        ]
        for server in servers:
            stack.callback(server.kill)
        yield servers


@contextlib.contextmanager
def running_pair() -> Iterator[Pair]:
    """Yields a master and its replica without Sentinels."""
    with own_servers(2) as (master, replica):
        pair = Pair(master, replica)
        pair.start()
        yield pair


@contextlib.contextmanager
def running_sentinels(
    identity: Identity | None = None, *, down_milliseconds: int = DOWN_MILLISECONDS
) -> Iterator[SentinelSet]:
    """Yields a master with its replica, and Sentinels that know each other; with an identity over TLS.

    They swap master and replica by themselves after as many milliseconds without an answer.
    """
    with own_servers(2 + SENTINELS, identity) as (master, replica, *sentinels):
        whole = SentinelSet(master, replica, sentinels, identity, down_milliseconds)
        whole.start()
        yield whole


def until(holds: Callable[[], bool], trouble: str) -> None:
    """Waits until the condition holds; a server that does not answer yet counts as no."""
    wait_until(holds, trouble, seconds=PATIENCE_SECONDS, ignoring=(redis.RedisError,))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
