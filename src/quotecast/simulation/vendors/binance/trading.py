"""Binance's signed requests on paper accounts: the account, its coins, orders and trades.

Source: Binance spot API documentation, "Trading endpoints", "Account endpoints", and "Wallet: all coins'
information". Orders are of the types `MARKET` and `LIMIT`.
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final
from urllib.parse import parse_qsl

from quotecast.market.numbers import positive
from quotecast.simulation.vendors.binance.errors import Problem
from quotecast.simulation.vendors.binance.rows import decimal
from quotecast.simulation.vendors.binance.source import MarketSource
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.http import Answer, HttpRequest, Row
from quotecast.simulation.vendors.market import Market
from quotecast.simulation.vendors.paper import Account, Order, PaperAccounts, Refused, newest

CASH: Final = Decimal(100_000)
FEE: Final = Decimal("0.001")
KEY: Final = "X-MBX-APIKEY"
#: The smallest part of a coin in an order, and the least that an order is worth.
_STEP: Final = Decimal("0.00001")
_LEAST: Final = Decimal(5)
_STATUSES: Final = {"open": "NEW", "filled": "FILLED", "canceled": "CANCELED", "rejected": "EXPIRED"}
_NO_KEY: Final = Answer.of({"code": -2014, "msg": "API-key format invalid."}, 401)
_WRONG_KEY: Final = Answer.of({"code": -2015, "msg": "Invalid API-key, IP, or permissions for action."}, 401)
_REFUSALS: Final = {
    "funds": (-2010, "Account has insufficient balance for requested action."),
    "quantity": (-1013, "Filter failure: LOT_SIZE"),
    "many": (-1013, "Filter failure: MAX_NUM_ORDERS"),
    "ended": (-2011, "Unknown order sent."),
}

#: The parameters of a request.
Given = Mapping[str, str]


class Trading:
    """Answers signed requests; `accepts` says whether a key is right, and `secret` signs, if there is one."""

    def __init__(
        self,
        market: Market,
        source: MarketSource,
        clock: MarketClock,
        *,
        accepts: Callable[[str], bool],
        secret: str | None,
    ) -> None:
        self._market = market
        self._source = source
        self._clock = clock
        self._accepts = accepts
        self._secret = secret
        self.accounts = PaperAccounts(
            market,
            cash={"USDT": CASH},
            fee=FEE,
            fee_of_received=True,
            trades=lambda symbol, moment: not market.is_halted(symbol, moment),
        )
        self._routes: Mapping[tuple[str, str], Callable[[Account, Given], Any]] = {
            ("GET", "/api/v3/account"): self._account,
            ("GET", "/sapi/v1/capital/config/getall"): self._coins,
            # Clients ask for the pairs of margin with their markets; the simulated Binance has none.
            ("GET", "/sapi/v1/margin/allPairs"): _nothing,
            ("GET", "/sapi/v1/margin/isolated/allPairs"): _nothing,
            ("POST", "/api/v3/order"): self._place,
            ("POST", "/api/v3/order/test"): self._test,
            ("GET", "/api/v3/order"): self._order,
            ("DELETE", "/api/v3/order"): self._cancel,
            ("GET", "/api/v3/openOrders"): self._open_orders,
            ("DELETE", "/api/v3/openOrders"): self._cancel_all,
            ("GET", "/api/v3/allOrders"): self._all_orders,
            ("GET", "/api/v3/myTrades"): self._trades_of,
        }

    def has(self, request: HttpRequest) -> bool:
        """Returns whether a request is signed and has an answer."""
        return (request.method, request.path) in self._routes

    def answer(self, request: HttpRequest) -> Answer:
        """Returns the answer to a signed request."""
        key = request.headers.get(KEY, "")
        if not key:
            return _NO_KEY
        if not self._accepts(key):
            return _WRONG_KEY
        try:
            given = self._signed(request)
            return Answer.of(self._routes[request.method, request.path](self.accounts.of(key), given))
        except Refused as error:
            return Problem(*_REFUSALS[error.reason]).answer
        except Problem as problem:
            return problem.answer

    def _signed(self, request: HttpRequest) -> Given:
        """Returns the parameters of query and form. Raises Problem for a wrong signature or none."""
        query, form = request.target.partition("?")[2], request.body.decode("utf-8", "replace")
        given = dict(parse_qsl(query, keep_blank_values=True)) | dict(parse_qsl(form, keep_blank_values=True))
        for name in ("timestamp", "signature"):
            if not given.get(name):
                raise Problem.missing(name)
        if self._secret is not None:
            # The signature comes last, in the query or in the form; it signs all before it.
            text = (query + form).rpartition("signature=")[0].rstrip("&")
            expected = hmac.new(self._secret.encode(), text.encode(), hashlib.sha256).hexdigest()
            if not hmac.compare_digest(expected.encode(), given["signature"].encode("utf-8", "replace")):
                raise Problem(-1022, "Signature for this request is not valid.")
        return given

    def _account(self, account: Account, _given: Given) -> Row:
        return {
            "makerCommission": 10,
            "takerCommission": 10,
            "buyerCommission": 0,
            "sellerCommission": 0,
            "commissionRates": dict.fromkeys(("maker", "taker"), decimal(float(FEE)))
            | dict.fromkeys(("buyer", "seller"), decimal(0.0)),
            "canTrade": True,
            "canWithdraw": False,
            "canDeposit": False,
            "brokered": False,
            "requireSelfTradePrevention": False,
            "preventSor": False,
            "updateTime": self._clock.moment(),
            "accountType": "SPOT",
            "balances": [
                {
                    "asset": asset,
                    "free": _text(account.free.get(asset)),
                    "locked": _text(account.held.get(asset)),
                }
                for asset in account.assets()
            ],
            "permissions": ["SPOT"],
            "uid": 1,
        }

    def _coins(self, account: Account, _given: Given) -> list[Row]:
        listed = self._source.listing(self._clock.moment())
        names = sorted({row[name] for row in listed for name in ("baseAsset", "quoteAsset")})
        return [
            {
                "coin": name,
                "name": name,
                "depositAllEnable": False,
                "withdrawAllEnable": False,
                "trading": True,
                "isLegalMoney": False,
                "free": _text(account.free.get(name)),
                "locked": _text(account.held.get(name)),
                **dict.fromkeys(("freeze", "withdrawing", "ipoing", "ipoable", "storage"), "0"),
                "networkList": [],
            }
            for name in names
        ]

    def _test(self, _account: Account, given: Given) -> Row:
        self._checked(given)
        return {}

    def _place(self, account: Account, given: Given) -> Row:
        symbol, side, quantity, limit = self._checked(given)
        name = self._name_of(symbol)
        base, _, quote = name.partition("/")
        order = self.accounts.place(
            account,
            name,
            (base, quote),
            "buy" if side == "BUY" else "sell",
            quantity,
            limit=limit,
            moment=self._clock.moment(),
            client_id=given.get("newClientOrderId", ""),
        )
        fill = {
            "price": _text(order.price),
            "qty": _text(order.filled),
            "commission": _text(order.fee),
            "commissionAsset": order.fee_asset,
            "tradeId": order.number,
        }
        fills = [fill] if order.status == "filled" else []
        placed = self._row(symbol, order) | {"transactTime": order.placed, "fills": fills}
        if given.get("newOrderRespType") == "ACK":
            return {name: placed[name] for name in ("symbol", "orderId", "clientOrderId", "transactTime")}
        return placed

    def _checked(self, given: Given) -> tuple[str, str, Decimal, Decimal | None]:
        """Returns symbol, side, quantity and limit of a new order. Raises Problem."""
        symbol, side, kind = (given.get(name, "") for name in ("symbol", "side", "type"))
        for name, value in (("symbol", symbol), ("side", side), ("type", kind)):
            if not value:
                raise Problem.missing(name)
        self._name_of(symbol)
        if side not in {"BUY", "SELL"}:
            raise Problem(-1117, "Invalid side.")
        if kind not in {"MARKET", "LIMIT"}:
            raise Problem(-1116, "Invalid orderType.")
        limit = positive(given.get("price")) if kind == "LIMIT" else None
        if kind == "LIMIT" and limit is None:
            raise Problem.missing("price")
        price = self._source.day_row(symbol, self._clock.moment())
        near = limit or Decimal(price["askPrice" if side == "BUY" else "bidPrice"])
        quantity = positive(given.get("quantity"))
        if quantity is None and kind == "MARKET" and (turnover := positive(given.get("quoteOrderQty"))):
            quantity = turnover / near // _STEP * _STEP
        if quantity is None:
            raise Problem.missing("quantity")
        if quantity % _STEP or not quantity:
            raise Problem(-1013, "Filter failure: LOT_SIZE")
        if quantity * near < _LEAST:
            raise Problem(-1013, "Filter failure: NOTIONAL")
        return symbol, side, quantity, limit

    def _name_of(self, symbol: str) -> str:
        """Returns the market's name of a listed symbol. Raises Problem."""
        name = self._source.name_of(symbol)
        if name is None or not self._source.is_listed(symbol, self._clock.moment()):
            raise Problem(-1121, "Invalid symbol.")
        return name

    def _order(self, account: Account, given: Given) -> Row:
        return self._row(given.get("symbol", ""), self._found(account, given, -2013, "Order does not exist."))

    def _cancel(self, account: Account, given: Given) -> Row:
        order = self._found(account, given, -2011, "Unknown order sent.")
        self.accounts.cancel(account, order, self._clock.moment())
        return self._row(given["symbol"], order) | {"origClientOrderId": order.client_id}

    def _found(self, account: Account, given: Given, code: int, text: str) -> Order:
        number, client_id = given.get("orderId"), given.get("origClientOrderId")
        if not given.get("symbol"):
            raise Problem.missing("symbol")
        for order in self._of(account, given):
            if str(order.number) == number or (client_id and order.client_id == client_id):
                return order
        raise Problem(code, text)

    def _open_orders(self, account: Account, given: Given) -> list[Row]:
        return [self._row(_symbol(each), each) for each in self._of(account, given) if each.status == "open"][
            ::-1
        ]

    def _cancel_all(self, account: Account, given: Given) -> list[Row]:
        orders = [each for each in self._of(account, given) if each.status == "open"]
        if not orders:
            raise Problem(-2011, "Unknown order sent.")
        for order in orders:
            self.accounts.cancel(account, order, self._clock.moment())
        return [self._row(_symbol(each), each) for each in orders]

    def _all_orders(self, account: Account, given: Given) -> list[Row]:
        return [self._row(_symbol(each), each) for each in self._of(account, given)[: _limit(given)]][::-1]

    def _trades_of(self, account: Account, given: Given) -> list[Row]:
        filled = [each for each in self._of(account, given) if each.status == "filled"][: _limit(given)]
        return [
            {
                "symbol": _symbol(order),
                "id": order.number,
                "orderId": order.number,
                "orderListId": -1,
                "price": _text(order.price),
                "qty": _text(order.filled),
                "quoteQty": _text(order.cost),
                "commission": _text(order.fee),
                "commissionAsset": order.fee_asset,
                "time": order.ended,
                "isBuyer": order.side == "buy",
                "isMaker": order.limit is not None and order.ended != order.placed,
                "isBestMatch": True,
            }
            for order in filled[::-1]
        ]

    def _of(self, account: Account, given: Given) -> list[Order]:
        """Returns the orders of a symbol, or of all, the newest first."""
        wanted = given.get("symbol")
        return [each for each in newest(account.orders) if wanted in {None, _symbol(each)}]

    def _row(self, symbol: str, order: Order) -> Row:
        return {
            "symbol": symbol,
            "orderId": order.number,
            "orderListId": -1,
            "clientOrderId": order.client_id,
            "price": _text(order.limit),
            "origQty": _text(order.quantity),
            "executedQty": _text(order.filled),
            "origQuoteOrderQty": _text(None),
            "cummulativeQuoteQty": _text(order.cost),
            "status": _STATUSES[order.status],
            "timeInForce": "GTC",
            "type": "MARKET" if order.limit is None else "LIMIT",
            "side": order.side.upper(),
            "stopPrice": _text(None),
            "icebergQty": _text(None),
            "time": order.placed,
            "updateTime": order.ended or order.placed,
            "isWorking": True,
            "workingTime": order.placed,
            "selfTradePreventionMode": "EXPIRE_MAKER",
        }


def _nothing(_account: Account, _given: Given) -> list[Row]:
    return []


def _symbol(order: Order) -> str:
    return order.symbol.replace("/", "")


def _limit(given: Given) -> int:
    text = given.get("limit", "")
    return min(int(text), 1000) if text.isdecimal() and len(text) < 6 else 500


def _text(amount: Decimal | None) -> str:
    return f"{amount or Decimal(0):.8f}"
