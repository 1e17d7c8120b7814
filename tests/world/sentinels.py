"""Sentinels of a world: each names the master that it knows of.

`test_installations.py` holds them to Valkey.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from world.redis_data import RedisError, Status
from world.redis_server import RedisConnection

SERVICE: Final = "quotes"
PORT: Final = 26379


class MasterView(NamedTuple):
    """What a Sentinel knows of the master; the number grows with each failover."""

    config_epoch: int
    host: str
    port: int


class Sentinel:
    """One Sentinel."""

    loses_answers = False

    def __init__(self, view: MasterView) -> None:
        self.view = view

    def connection(self) -> RedisConnection:
        """Returns the protocol of a new connection."""
        return RedisConnection(self)

    def learn(self, view: MasterView) -> None:
        """Takes another Sentinel's view, unless its own is newer."""
        self.view = max(self.view, view)

    def run(self, words: Sequence[bytes]) -> Any:
        """Returns the answer to a command. Raises RedisError."""
        match [words[0].upper(), *words[1:]]:
            case [b"SENTINEL", subcommand, service] if subcommand.upper() == b"MASTER":
                if service != SERVICE.encode():
                    raise RedisError("ERR No such master with that name")
                about = {
                    "name": SERVICE,
                    "ip": self.view.host,
                    "port": self.view.port,
                    "config-epoch": self.view.config_epoch,
                }
                return [str(word).encode() for pair in about.items() for word in pair]
            case [b"CLIENT" | b"PING" as name, *_]:
                return Status("PONG" if name == b"PING" else "OK")
        raise RedisError(f"ERR unknown command '{words[0].decode()}'")

    def subscribe(self, verb: bytes, channel: bytes, connection: RedisConnection) -> None:
        """Raises RedisError: nobody here subscribes to Sentinels."""
        del channel, connection
        raise RedisError(f"ERR unknown command '{verb.decode()}'")

    def leave(self, connection: RedisConnection) -> None:
        """Does nothing: there are no subscriptions."""
