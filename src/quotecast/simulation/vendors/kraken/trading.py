"""Kraken's private methods on paper accounts: balances, orders and trades.

Source: Kraken documentation, "REST API: Account Data, Trading". Orders are of the types `market` and `limit`.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec

from quotecast.market.numbers import positive
from quotecast.simulation.vendors.http import Answer, HttpRequest, Row
from quotecast.simulation.vendors.kraken.data import KrakenData
from quotecast.simulation.vendors.kraken.names import by_name, kraken_pair, long_name, short_name
from quotecast.simulation.vendors.kraken.rest import UNKNOWN_PAIR, WRONG, KrakenError, failure
from quotecast.simulation.vendors.paper import Account, Order, PaperAccounts, Refused, newest, plain

PREFIX: Final = "/0/private/"
CASH: Final = Decimal(100_000)
FEE: Final = Decimal("0.004")
_STATUSES: Final = {"open": "open", "filled": "closed", "canceled": "canceled", "rejected": "expired"}
_REFUSALS: Final = {
    "funds": "EOrder:Insufficient funds",
    "quantity": "EGeneral:Invalid arguments:volume",
    "many": "EOrder:Orders limit exceeded",
    "ended": "EOrder:Unknown order",
}
_PAGE: Final = 50

#: The parameters of a request.
Given = Mapping[str, str]

_object: Final = msgspec.json.Decoder(dict[str, Any])


class Trading:
    """Answers private methods; `accepts` says whether a key is right, and `secret` signs, if there is one."""

    def __init__(self, data: KrakenData, *, accepts: Callable[[str], bool], secret: str | None) -> None:
        self._data = data
        self._accepts = accepts
        self._secret = secret
        self._nonces: dict[str, int] = {}
        self.accounts = PaperAccounts(
            data.market,
            cash={"USD": CASH},
            fee=FEE,
            trades=lambda symbol, _moment: data.status(symbol) == "online",
        )
        self._methods: Mapping[str, Callable[[Account, Given], Any]] = {
            "Balance": lambda account, _: {
                _long(each): plain(account.total(each)) for each in account.assets()
            },
            "BalanceEx": self._extended_balance,
            "AddOrder": self._add,
            "CancelOrder": self._cancel,
            "CancelAll": self._cancel_all,
            "OpenOrders": lambda account, _: {"open": _rows(account.open_orders())},
            "ClosedOrders": self._closed_orders,
            "QueryOrders": self._query,
            "TradesHistory": self._history,
            "QueryTrades": self._query_trades,
        }

    def has(self, request: HttpRequest) -> bool:
        """Returns whether a request is of a method that has an answer."""
        return request.method == "POST" and request.path.removeprefix(PREFIX) in self._methods

    def answer(self, request: HttpRequest) -> Answer:
        """Returns the answer to a request of a private method."""
        method = self._methods[request.path.removeprefix(PREFIX)]
        try:
            key = request.headers.get("API-Key", "")
            given = self._signed(request, key)
            return Answer.of({"error": [], "result": method(self.accounts.of(key), given)})
        except Refused as error:
            return failure(_REFUSALS[error.reason])
        except KrakenError as error:
            return failure(str(error))

    def _signed(self, request: HttpRequest, key: str) -> Given:
        """Returns the parameters. Raises KrakenError for a wrong key, signature or nonce."""
        if not self._accepts(key):
            raise KrakenError("EAPI:Invalid key")
        body = request.body.decode("utf-8", "replace")
        try:
            is_json = "json" in request.headers.get("Content-Type", "")
            given = _object.decode(body) if is_json else dict(parse_qsl(body, keep_blank_values=True))
        except ValueError:
            raise KrakenError(WRONG) from None
        given = {name: str(value) for name, value in given.items()}
        nonce, signature = given.get("nonce", ""), request.headers.get("API-Sign", "")
        if not signature or (
            self._secret is not None and not self._is_signed(request, nonce, body, signature)
        ):
            raise KrakenError("EAPI:Invalid signature")
        if not (nonce.isdecimal() and len(nonce) < 20 and int(nonce) > self._nonces.get(key, -1)):
            raise KrakenError("EAPI:Invalid nonce")
        self._nonces[key] = int(nonce)
        return given

    def _is_signed(self, request: HttpRequest, nonce: str, body: str, signature: str) -> bool:
        digest = hashlib.sha256(f"{nonce}{body}".encode()).digest()
        try:
            secret = base64.b64decode(self._secret or "", validate=True)
        except binascii.Error:
            secret = (self._secret or "").encode()
        expected = hmac.new(secret, request.path.encode() + digest, hashlib.sha512).digest()
        return hmac.compare_digest(base64.b64encode(expected), signature.encode("utf-8", "replace"))

    def _extended_balance(self, account: Account, _given: Given) -> Row:
        return {
            _long(asset): {
                "balance": plain(account.total(asset)),
                "hold_trade": plain(account.held.get(asset, Decimal(0))),
            }
            for asset in account.assets()
        }

    def _add(self, account: Account, given: Given) -> Row:
        pair = by_name(self._data.symbols()).get(given.get("pair", ""))
        if pair is None:
            raise KrakenError(UNKNOWN_PAIR)
        side, kind = given.get("type"), given.get("ordertype")
        if side not in {"buy", "sell"}:
            raise KrakenError(f"{WRONG}:type")
        if kind not in {"market", "limit"}:
            raise KrakenError(f"{WRONG}:ordertype")
        if self._data.status(pair.symbol) == "cancel_only":
            raise KrakenError("EService:Market in cancel_only mode")
        quantity = positive(given.get("volume"))
        limit = positive(given.get("price")) if kind == "limit" else None
        if quantity is None or (kind == "limit" and limit is None):
            raise KrakenError(f"{WRONG}:{'volume' if quantity is None else 'price'}")
        said = f"{side} {plain(quantity)} {pair.altname} @ {kind}{f' {plain(limit)}' if limit else ''}"
        if given.get("validate") == "true":
            return {"descr": {"order": said}}
        base, _, quote = pair.symbol.partition("/")
        order = self.accounts.place(
            account,
            pair.symbol,
            (base, quote),
            "buy" if side == "buy" else "sell",
            quantity,
            limit=limit,
            moment=self._data.clock.moment(),
            client_id=given.get("cl_ord_id", ""),
        )
        return {"descr": {"order": said}, "txid": [_txid(order)]}

    def _cancel(self, account: Account, given: Given) -> Row:
        wanted = {given.get("txid"), given.get("cl_ord_id")}
        for order in account.open_orders():
            if wanted & {_txid(order), order.client_id}:
                self.accounts.cancel(account, order, self._data.clock.moment())
                return {"count": 1}
        raise KrakenError("EOrder:Unknown order")

    def _cancel_all(self, account: Account, _given: Given) -> Row:
        orders = account.open_orders()
        for order in orders:
            self.accounts.cancel(account, order, self._data.clock.moment())
        return {"count": len(orders)}

    def _closed_orders(self, account: Account, given: Given) -> Row:
        ended = [order for order in newest(account.orders) if order.status != "open"]
        return {"closed": _rows(_page(ended, given)), "count": len(ended)}

    def _query(self, account: Account, given: Given) -> Row:
        wanted = given.get("txid", "").split(",")
        found = [order for order in account.orders.values() if _txid(order) in wanted]
        if not found:
            raise KrakenError("EOrder:Unknown order")
        return _rows(found)

    def _history(self, account: Account, given: Given) -> Row:
        filled = [order for order in newest(account.orders) if order.status == "filled"]
        return {
            "trades": {_trade_id(each): _trade(each) for each in _page(filled, given)},
            "count": len(filled),
        }

    def _query_trades(self, account: Account, given: Given) -> Row:
        wanted = given.get("txid", "").split(",")
        filled = [order for order in account.orders.values() if order.status == "filled"]
        return {_trade_id(each): _trade(each) for each in filled if _trade_id(each) in wanted}


def _page(orders: list[Order], given: Given) -> list[Order]:
    text = given.get("ofs", "0")
    first = int(text) if text.isdecimal() and len(text) < 6 else 0
    return orders[first : first + _PAGE]


def _rows(orders: Iterable[Order]) -> Row:
    return {_txid(order): _row(order) for order in orders}


def _row(order: Order) -> Row:
    pair, kind = kraken_pair(order.symbol), "market" if order.limit is None else "limit"
    said = f"{order.side} {plain(order.quantity)} {pair.altname} @ {kind}"
    return {
        "refid": None,
        "userref": 0,
        "cl_ord_id": order.client_id,
        "status": _STATUSES[order.status],
        "opentm": order.placed / 1000,
        "starttm": 0,
        "expiretm": 0,
        "descr": {
            "pair": pair.altname,
            "type": order.side,
            "ordertype": kind,
            "price": plain(order.limit or Decimal(0)),
            "price2": "0",
            "leverage": "none",
            "order": f"{said} {plain(order.limit)}" if order.limit else said,
            "close": "",
        },
        "vol": plain(order.quantity),
        "vol_exec": plain(order.filled),
        "cost": plain(order.cost),
        "fee": plain(order.fee),
        "price": plain(order.price or Decimal(0)),
        "stopprice": "0",
        "limitprice": "0",
        "misc": "",
        "oflags": "fciq",
        "reason": None,
        **({"closetm": order.ended / 1000} if order.ended is not None else {}),
        **({"trades": [_trade_id(order)]} if order.status == "filled" else {}),
    }


def _trade(order: Order) -> Row:
    pair = kraken_pair(order.symbol)
    return {
        "ordertxid": _txid(order),
        "postxid": _txid(order),
        "pair": pair.key,
        "time": (order.ended or order.placed) / 1000,
        "type": order.side,
        "ordertype": "market" if order.limit is None else "limit",
        "price": plain(order.price or Decimal(0)),
        "cost": plain(order.cost),
        "fee": plain(order.fee),
        "vol": plain(order.filled),
        "margin": "0",
        "misc": "",
        "trade_id": order.number,
        "maker": order.limit is not None and order.ended != order.placed,
    }


def _txid(order: Order) -> str:
    """Returns an order's id, in the form of Kraken's."""
    return _named("O", order.number)


def _trade_id(order: Order) -> str:
    return _named("T", order.number)


def _named(first: str, number: int) -> str:
    digits = f"{number * 0x9E3779B97F4A7C15 % (1 << 64):016X}"
    return f"{first}{digits[:5]}-{digits[5:10]}-{digits[10:16]}"


def _long(asset: str) -> str:
    return long_name(short_name(asset))
