"""A vendor with the smallest protocol that all of a vendor's parts need, and `quotecast simulate` with it.

A client sends a symbol to follow it, and a symbol after `-` to leave it.
`python -m support.servers.tiny_vendor` takes the arguments of `quotecast`; the vendor's name is `coinbase`.
"""

import sys
from typing import Final

import msgspec

from quotecast import __main__
from quotecast.commands import simulate
from quotecast.simulation.market.scenarios.base import Refusal
from quotecast.simulation.vendors.http import Answer, HttpRequest
from quotecast.simulation.vendors.market import Price
from quotecast.simulation.vendors.server import Client, VendorServer

#: Milliseconds between two heartbeats.
BEAT_MS: Final = 1000
VENDORS: Final = {"coinbase": "support.servers.tiny_vendor:TinyServer"}


class TinyServer(VendorServer):
    _last_beat = 0

    def route(self, request: HttpRequest) -> Answer:
        symbol = request.query.get("symbol", "AAPL")
        if not self.market.is_listed(symbol, self.clock.moment()):
            return Answer.of({"error": "unknown symbol"}, 404)
        return Answer.of(self.market.price(symbol, self.clock.moment()))

    def reject(self, reason: str) -> Answer:
        return Answer.of({"error": reason}, 404)

    def refuse(self, refusal: Refusal) -> Answer:
        return Answer.of({"error": refusal}, 503 if refusal == "maintenance" else 429)

    def greet(self, client: Client) -> None:
        client.answer(b'{"hello":true}')

    async def obey(self, client: Client, command: str | bytes) -> None:
        text = command if isinstance(command, str) else command.decode("utf-8", "replace")
        symbol = text.removeprefix("-")
        if not self.market.is_listed(symbol, self.clock.moment()):
            client.answer(b'{"error":"unknown symbol"}')
        elif text.startswith("-"):
            self.unsubscribe(client, symbol)
        else:
            self.subscribe(client, symbol, symbol)

    def publish(self, price: Price) -> None:
        self.send(price.symbol, price, msgspec.json.encode(price))

    def beat(self, moment: int) -> None:
        if moment - self._last_beat >= BEAT_MS:
            self._last_beat = moment
            for client in self.clients:
                client.answer(b'{"beat":true}')


if __name__ == "__main__":
    simulate.VENDORS = VENDORS  # type: ignore[misc]
    sys.exit(__main__.main())
