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
from quotecast.simulation.vendors.alpaca.rows import asset_row, text
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.http import Answer, HttpRequest, Row
from quotecast.simulation.vendors.market import Market, utc
from quotecast.simulation.vendors.paper import (
    Account,
    Order,
    PaperAccounts,
    Refused,
    Side,
    money,
    newest,
    plain,
)

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
_STATUSES: Final = {"open": "new", "filled": "filled", "canceled": "canceled", "rejected": "rejected"}
#: Ids are made of names, so that they are the same at every run.
_SPACE: Final = uuid.UUID(int=0)


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


def order_id(order: Order) -> str:
    """Returns an order's id: its number in the form of a UUID."""
    return str(uuid.UUID(int=order.number))


def holdings(account: Account) -> list[str]:
    """Returns what the account has besides dollars."""
    return [asset for asset in account.assets() if asset != "USD"]


def order_row(market: Market, order: Order) -> Row:
    """Returns an order."""
    asset, ended = asset_row(market, order.symbol), order.ended
    kind = "market" if order.limit is None else "limit"
    times = {
        f"{name}_at": _time(ended if order.status == status else None)
        for name, status in (("filled", "filled"), ("canceled", "canceled"), ("failed", "rejected"))
    }
    return {
        "id": order_id(order),
        "client_order_id": order.client_id,
        "created_at": _time(order.placed),
        "updated_at": _time(ended or order.placed),
        "submitted_at": _time(order.placed),
        **times,
        "expired_at": None,
        "replaced_at": None,
        "replaced_by": None,
        "replaces": None,
        "asset_id": asset["id"],
        "symbol": order.symbol,
        "asset_class": asset["class"],
        "notional": None,
        "qty": plain(order.quantity),
        "filled_qty": plain(order.filled),
        "filled_avg_price": plain(order.price) if order.price is not None else None,
        "order_class": "",
        "order_type": kind,
        "type": kind,
        "side": order.side,
        "position_intent": f"{order.side}_to_{'open' if order.side == 'buy' else 'close'}",
        "time_in_force": "gtc" if order.symbol in market.pairs else "day",
        "limit_price": plain(order.limit) if order.limit is not None else None,
        "stop_price": None,
        "status": _STATUSES[order.status],
        "extended_hours": False,
        "legs": None,
        "trail_percent": None,
        "trail_price": None,
        "hwm": None,
    }


def position_row(market: Market, account: Account, asset: str, moment: int) -> Row:
    """Returns a position at a moment."""
    price = market.price(asset, moment)
    row, quantity = asset_row(market, asset), account.total(asset)
    now, before = Decimal(str(price.price)), Decimal(str(price.previous))
    worth, paid = quantity * now, account.paid.get(asset, Decimal(0))
    profit, today = worth - paid, quantity * (now - before)
    return {
        "asset_id": row["id"],
        "symbol": asset.replace("/", ""),
        "exchange": row.get("exchange", ""),
        "asset_class": row["class"],
        "asset_marginable": False,
        "avg_entry_price": plain(money(paid / quantity)),
        "qty": plain(quantity),
        "qty_available": plain(account.free.get(asset, Decimal(0))),
        "side": "long",
        "market_value": plain(money(worth)),
        "cost_basis": plain(money(paid)),
        "unrealized_pl": plain(money(profit)),
        "unrealized_plpc": plain(money(profit / paid)) if paid else "0",
        "unrealized_intraday_pl": plain(money(today)),
        "unrealized_intraday_plpc": plain(money((now - before) / before)),
        "current_price": plain(now),
        "lastday_price": plain(before),
        "change_today": plain(money((now - before) / before)),
    }


def account_row(market: Market, account: Account, key: str, moment: int) -> Row:
    """Returns the account of a key at a moment."""
    positions = sum(
        (
            account.total(asset) * Decimal(str(market.price(asset, moment).price))
            for asset in holdings(account)
        ),
        Decimal(0),
    )
    cash, free = plain(account.total("USD")), plain(account.free["USD"])
    equity = plain(money(account.total("USD") + positions))
    flags = ("pattern_day_trader", "trading_blocked", "transfers_blocked", "account_blocked")
    return {
        "id": str(uuid.uuid5(_SPACE, f"account {key}")),
        "account_number": "PA" + uuid.uuid5(_SPACE, key).hex[:10].upper(),
        "status": "ACTIVE",
        "crypto_status": "ACTIVE",
        "currency": "USD",
        **dict.fromkeys(("buying_power", "regt_buying_power", "non_marginable_buying_power"), free),
        "daytrading_buying_power": "0",
        "cash": cash,
        "accrued_fees": "0",
        "pending_transfer_in": "0",
        **dict.fromkeys(("portfolio_value", "equity", "last_equity"), equity),
        **dict.fromkeys(flags, False),
        "created_at": _time(moment),
        "trade_suspended_by_user": False,
        "multiplier": "1",
        "shorting_enabled": False,
        "long_market_value": plain(money(positions)),
        **dict.fromkeys(("short_market_value", "initial_margin", "maintenance_margin"), "0"),
        **dict.fromkeys(("last_maintenance_margin", "sma"), "0"),
        "daytrade_count": 0,
    }


def _time(moment: int | None) -> str | None:
    return None if moment is None else text(utc(moment), digits=9)
