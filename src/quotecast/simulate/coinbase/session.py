"""What the server knows of a WebSocket client."""

import asyncio

import msgspec

from quotecast.simulate.coinbase.commands import Command
from quotecast.simulate.coinbase.errors import CommandError
from quotecast.simulate.coinbase.limits import Bucket


class Session:
    """A client's subscriptions, in order; `deadline` ends a client that does not subscribe."""

    def __init__(self, deadline: asyncio.Task[None], commands: Bucket) -> None:
        self.deadline = deadline
        self._commands = commands
        self.channels: dict[str, dict[str, None]] = {}

    def count_command(self) -> None:
        """Raises CommandError for a client that sends too many commands."""
        if not self._commands.take():
            raise CommandError("Too many messages", "ErrSlowRead")

    def add(self, command: Command) -> list[tuple[str, str]]:
        """Adds subscriptions; returns channel and product of those that are new."""
        added: list[tuple[str, str]] = []
        for channel, products in command.channels.items():
            subscribed = self.channels.setdefault(channel, {})
            added += [(channel, product) for product in products if product not in subscribed]
            subscribed |= dict.fromkeys(products)
        return added

    def remove(self, command: Command) -> list[tuple[str, str]]:
        """Removes subscriptions, all of a channel without products; returns channel and product of each."""
        removed: list[tuple[str, str]] = []
        for channel, products in command.channels.items():
            subscribed = self.channels.get(channel, {})
            gone = [product for product in products or [*subscribed] if product in subscribed]
            removed += [(channel, product) for product in gone]
            for product in gone:
                del subscribed[product]
            if not subscribed:
                self.channels.pop(channel, None)
        return removed

    def subscriptions(self) -> bytes:
        """Returns the message that lists all subscriptions."""
        rows = [
            {"name": name, "product_ids": [*products], "account_ids": None}
            for name, products in self.channels.items()
        ]
        return msgspec.json.encode({"type": "subscriptions", "channels": rows})
