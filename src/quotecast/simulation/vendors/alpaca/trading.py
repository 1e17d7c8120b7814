"""Alpaca's trading API on paper accounts: account, orders and positions.

Source: Alpaca's documentation, "Trading API: orders, positions, account". Orders are of the types `market`
and `limit`; what has no answer here is refused.
"""

import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec

from quotecast.market.numbers import positive
from quotecast.simulation.vendors.alpaca.paper_rows import (
    account_row,
    holdings,
    order_id,
    order_row,
    position_row,
)
from quotecast.simulation.vendors.alpaca.rows import asset_row
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.http import Answer, HttpRequest
from quotecast.simulation.vendors.market import Market
from quotecast.simulation.vendors.paper import Account, Order, PaperAccounts, Refused, Side, money, newest

CASH: Final = Decimal(100_000)
_PATHS: Final = ("/v2/account", "/v2/orders", "/v2/positions")
_DEFAULT_LIMIT: Final = 50
_REFUSALS: Final = {
    "funds": (403, 40310000, "insufficient buying power"),
    "quantity": (422, 42210000, "qty must be > 0"),
    "many": (403, 40310000, "too many open orders"),
    "ended": (422, 42210000, "order is not cancelable"),
}

#: Answers a request about an account; the name is that of one order or position, or empty.
_Route = Callable[[Account, str, HttpRequest], Answer]

_object: Final = msgspec.json.Decoder(dict[str, Any])


class _Rejected(Exception):
    """A request that Alpaca rejects; `answer` says why."""

    def __init__(self, message: str, status: int = 422, code: int = 42210000) -> None:
        super().__init__(message)
        self.answer = Answer.of({"code": code, "message": message}, status)


def _missing(what: str) -> _Rejected:
    return _Rejected(f"{what} not found", 404, 40410000)


class Trading:
    """Answers requests of trading."""

    def __init__(self, market: Market, clock: MarketClock) -> None:
        self._market = market
        self._clock = clock
        self.accounts = PaperAccounts(market, cash={"USD": CASH}, fee=Decimal(0), trades=self._trades)
        self._routes: Mapping[tuple[str, str], _Route] = {
            ("GET", "orders"): self._orders,
            ("POST", "orders"): self._place,
            ("DELETE", "orders"): self._cancel,
            ("GET", "orders:by_client_order_id"): self._by_client_id,
            ("GET", "positions"): self._positions,
            ("DELETE", "positions"): self._close,
        }

    @staticmethod
    def has_method(request: HttpRequest) -> bool:
        """Returns whether a request may change an account."""
        return request.method in {"POST", "DELETE"} and request.path.startswith(_PATHS)

    def answer(self, request: HttpRequest, key: str) -> Answer | None:
        """Returns the answer to a request of a key; None for a path that is not of trading."""
        path = request.path.rstrip("/")
        if not path.startswith(_PATHS):
            return None
        kind, _, name = path.removeprefix("/v2/").partition("/")
        account = self.accounts.of(key)
        if (request.method, kind, name) == ("GET", "account", ""):
            return Answer.of(account_row(self._market, account, key, self._clock.moment()))
        route = self._routes.get((request.method, kind))
        try:
            return route(account, name, request) if route else None
        except Refused as error:
            status, code, message = _REFUSALS[error.reason]
            return _Rejected(message, status, code).answer
        except _Rejected as error:
            return error.answer

    def _trades(self, symbol: str, moment: int) -> bool:
        is_open = symbol in self._market.pairs or self._market.is_open(moment)
        return is_open and not self._market.is_halted(symbol, moment)

    def _orders(self, account: Account, name: str, request: HttpRequest) -> Answer:
        if name:
            return Answer.of(order_row(self._market, _order(account, name)))
        query = request.query
        status, limit = query.get("status", "open"), query.get("limit", "")
        wanted = {*filter(None, query.get("symbols", "").split(","))}
        found = [
            order
            for order in newest(account.orders)
            if (status == "all" or (order.status == "open") == (status == "open"))
            and (not wanted or order.symbol in wanted)
        ]
        page = found[: int(limit) if limit.isdecimal() else _DEFAULT_LIMIT]
        rows = [order_row(self._market, order) for order in page]
        return Answer.of(rows[::-1] if query.get("direction") == "asc" else rows)

    def _by_client_id(self, account: Account, _name: str, request: HttpRequest) -> Answer:
        wanted = request.query.get("client_order_id")
        for order in account.orders.values():
            if order.client_id == wanted:
                return Answer.of(order_row(self._market, order))
        raise _missing("order")

    def _place(self, account: Account, _name: str, request: HttpRequest) -> Answer:
        try:
            given = _object.decode(request.body)
        except ValueError:
            raise _Rejected("request body format is invalid") from None
        symbol, side, kind = str(given.get("symbol", "")).upper(), given.get("side"), given.get("type")
        if not self._market.is_listed(symbol, self._clock.moment()):
            raise _Rejected(f'asset "{symbol}" not found')
        if side not in {"buy", "sell"} or kind not in {"market", "limit"}:
            raise _Rejected("only market and limit orders to buy or sell are simulated")
        limit = positive(given.get("limit_price")) if kind == "limit" else None
        if kind == "limit" and limit is None:
            raise _Rejected("limit orders require a limit price")
        client_id = str(given.get("client_order_id") or uuid.uuid4())
        if any(order.client_id == client_id for order in account.orders.values()):
            raise _Rejected("client_order_id must be unique")
        quantity = positive(given.get("qty"))
        if quantity is None and (amount := positive(given.get("notional"))):
            price = self._market.price(symbol, self._clock.moment())
            quantity = money(amount / (limit or Decimal(str(price.ask if side == "buy" else price.bid))))
        if quantity is None:
            raise _Rejected("qty or notional is required")
        return self._ordered(account, symbol, side, quantity, limit=limit, client_id=client_id)

    def _ordered(
        self,
        account: Account,
        symbol: str,
        side: Side,
        quantity: Decimal,
        *,
        limit: Decimal | None = None,
        client_id: str = "",
    ) -> Answer:
        pair = self._market.pairs.get(symbol)
        order = self.accounts.place(
            account,
            symbol,
            (symbol, pair.quote if pair else "USD"),
            side,
            quantity,
            limit=limit,
            moment=self._clock.moment(),
            client_id=client_id or str(uuid.uuid4()),
        )
        return Answer.of(order_row(self._market, order))

    def _cancel(self, account: Account, name: str, _request: HttpRequest) -> Answer:
        moment = self._clock.moment()
        if name:
            self.accounts.cancel(account, _order(account, name), moment)
            return Answer(b"", 204)
        orders = account.open_orders()
        for order in orders:
            self.accounts.cancel(account, order, moment)
        return Answer.of([{"id": order_id(order), "status": 200} for order in orders], 207)

    def _positions(self, account: Account, name: str, _request: HttpRequest) -> Answer:
        moment = self._clock.moment()
        if name:
            return Answer.of(position_row(self._market, account, self._held(account, name), moment))
        return Answer.of([position_row(self._market, account, each, moment) for each in holdings(account)])

    def _close(self, account: Account, name: str, request: HttpRequest) -> Answer:
        if name:
            return self._sell(account, self._held(account, name), request.query)
        return Answer.of(
            [
                {"symbol": each, "status": 200, "body": msgspec.Raw(self._sell(account, each, {}).body)}
                for each in holdings(account)
            ],
            207,
        )

    def _sell(self, account: Account, asset: str, query: Mapping[str, str]) -> Answer:
        quantity, free = positive(query.get("qty")), account.free.get(asset, Decimal(0))
        share = positive(query.get("percentage")) or Decimal(100)
        return self._ordered(account, asset, "sell", quantity or money(free * min(share, Decimal(100)) / 100))

    def _held(self, account: Account, name: str) -> str:
        """Returns the asset of a position by symbol, with or without a slash, or by id."""
        for asset in holdings(account):
            if name in {asset, asset.replace("/", ""), asset_row(self._market, asset)["id"]}:
                return asset
        raise _missing("position")


def _order(account: Account, name: str) -> Order:
    try:
        return account.orders[uuid.UUID(name).int]
    except (ValueError, KeyError):
        raise _missing("order") from None
