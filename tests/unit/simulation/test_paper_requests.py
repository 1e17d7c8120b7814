"""Requests of trading: what each vendor answers and refuses, in its own words."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from itertools import count
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import msgspec
import pytest
from websockets.datastructures import Headers

from quotecast.simulation.market.scenarios.schedule import Planned, Schedule
from quotecast.simulation.market.scenarios.trading import Halt
from quotecast.simulation.vendors.alpaca.server import AlpacaServer
from quotecast.simulation.vendors.binance.server import BinanceServer
from quotecast.simulation.vendors.http import HttpRequest
from quotecast.simulation.vendors.kraken.server import KrakenServer
from quotecast.simulation.vendors.market import Market
from quotecast.simulation.vendors.server import VendorServer
from support.runs.manual_clock import ManualClock

#: Thursday, 2026-11-19, 15:00 in New York.
START: Final = 1_795_118_400_000
SECRET: Final = base64.b64encode(b"secret").decode()


class Client:
    """A client of one vendor, which signs; no sockets."""

    def __init__(self, server: VendorServer) -> None:
        self.server = server
        self.secret = SECRET

    def send(
        self, method: str, path: str, *, query: str = "", body: bytes = b"", **headers: str
    ) -> tuple[int, Any]:
        named = Headers({name.replace("_", "-"): value for name, value in headers.items()})
        target = f"{path}?{query}" if query else path
        answer = self.server.respond(HttpRequest(path, dict(parse_qsl(query)), named, target, method, body))
        return answer.status, msgspec.json.decode(answer.body) if answer.body else None

    def tick(self, milliseconds: int) -> None:
        assert isinstance(self.server.clock, ManualClock)
        self.server.clock.advance(milliseconds)
        self.server.tick()


class Alpaca(Client):
    def ask(self, method: str, path: str, *, query: str = "", body: Mapping[str, Any] | None = None) -> Any:
        given = msgspec.json.encode(body) if body is not None else b""
        return self.send(
            method, path, query=query, body=given, APCA_API_KEY_ID="key", APCA_API_SECRET_KEY=self.secret
        )


class Binance(Client):
    def ask(self, method: str, path: str, **given: str) -> Any:
        query = urlencode({**given, "timestamp": str(START)})
        signature = hmac.new(self.secret.encode(), query.encode(), hashlib.sha256).hexdigest()
        return self.send(method, path, query=f"{query}&signature={signature}", X_MBX_APIKEY="key")


class Kraken(Client):
    def __init__(self, server: VendorServer) -> None:
        super().__init__(server)
        self.nonces = count(1)

    def ask(self, method: str, **given: str) -> Any:
        path, nonce = f"/0/private/{method}", next(self.nonces)
        body = urlencode({"nonce": nonce, **given})
        digest = hashlib.sha256(f"{nonce}{body}".encode()).digest()
        signed = hmac.new(base64.b64decode(self.secret), path.encode() + digest, hashlib.sha512).digest()
        _, answer = self.send(
            "POST", path, body=body.encode(), API_Key="key", API_Sign=base64.b64encode(signed).decode()
        )
        return answer["result"] if not answer["error"] else answer["error"][0]


OPTIONS: Final[Mapping[str, Any]] = {"key": "key", "secret": SECRET}


def market(*planned: Planned) -> Market:
    return Market(7, Schedule(planned))


def alpaca(*planned: Planned) -> Alpaca:
    return Alpaca(AlpacaServer(market(*planned), ManualClock(START), **OPTIONS))


def binance(*planned: Planned) -> Binance:
    return Binance(BinanceServer(market(*planned), ManualClock(START), **OPTIONS))


def kraken(*planned: Planned) -> Kraken:
    return Kraken(KrakenServer(market(*planned), ManualClock(START), calls=100, **OPTIONS))


def test_a_bot_trades_at_alpaca() -> None:
    client = alpaca()
    price = client.server.market.price("AAPL", START)
    _, order = client.ask(
        "POST", "/v2/orders", body={"symbol": "AAPL", "qty": "3", "side": "buy", "type": "market"}
    )
    assert (order["status"], order["filled_avg_price"]) == ("filled", str(price.ask))
    _, position = client.ask("GET", "/v2/positions/AAPL")
    assert (position["qty"], position["avg_entry_price"]) == ("3", str(price.ask))
    assert client.ask("GET", f"/v2/positions/{position['asset_id']}")[1] == position
    far = {
        "symbol": "AAPL",
        "qty": 1,
        "side": "sell",
        "type": "limit",
        "limit_price": 9999,
        "client_order_id": "far",
    }
    assert client.ask("POST", "/v2/orders", body=far)[1]["status"] == "new"
    assert [each["client_order_id"] for each in client.ask("GET", "/v2/orders")[1]] == ["far"]
    assert client.ask("GET", "/v2/positions/AAPL")[1]["qty_available"] == "2"
    status, canceled = client.ask("DELETE", "/v2/orders")
    assert (status, len(canceled)) == (207, 1)
    status, closed = client.ask("DELETE", "/v2/positions/AAPL", query="percentage=50")
    assert (status, closed["qty"], closed["side"]) == (200, "1.5", "sell")
    assert client.ask("DELETE", "/v2/positions")[1][0]["body"]["qty"] == "1.5"
    assert client.ask("GET", "/v2/positions") == (200, [])
    account = client.ask("GET", "/v2/account")[1]
    assert account["cash"] == account["equity"] == account["buying_power"] != "100000"
    assert len(client.ask("GET", "/v2/orders", query="status=closed&limit=2&direction=asc")[1]) == 2


@pytest.mark.parametrize(
    ("changes", "status", "message"),
    [
        ({"symbol": "NONE"}, 422, 'asset "NONE" not found'),
        ({"type": "stop"}, 422, "only market and limit orders to buy or sell are simulated"),
        ({"type": "limit"}, 422, "limit orders require a limit price"),
        ({"qty": None}, 422, "qty or notional is required"),
        ({"qty": "-1"}, 422, "qty or notional is required"),
        ({"qty": "1000000"}, 403, "insufficient buying power"),
        ({"side": "sell"}, 403, "insufficient buying power"),
        ({"symbol": "ETH/BTC"}, 403, "insufficient buying power"),
    ],
)
def test_alpaca_refuses_orders(changes: dict[str, Any], status: int, message: str) -> None:
    order = {"symbol": "AAPL", "qty": "1", "side": "buy", "type": "market"} | changes
    given = alpaca().ask("POST", "/v2/orders", body=order)
    assert (given[0], given[1]["message"]) == (status, message)


def test_alpaca_knows_no_other_orders_positions_and_keys() -> None:
    client = alpaca()
    assert client.ask("GET", "/v2/orders/none")[0] == 404
    assert client.ask("GET", "/v2/orders:by_client_order_id", query="client_order_id=x")[0] == 404
    assert client.ask("DELETE", "/v2/positions/AAPL")[0] == 404
    assert client.ask("POST", "/v2/positions")[0] == 404
    assert (
        client.send("POST", "/v2/orders", body=b"{", APCA_API_KEY_ID="key", APCA_API_SECRET_KEY=SECRET)[0]
        == 422
    )
    order = {"symbol": "AAPL", "qty": "1", "side": "buy", "type": "market", "client_order_id": "one"}
    identity = client.ask("POST", "/v2/orders", body=order)[1]["id"]
    assert client.ask("POST", "/v2/orders", body=order)[1]["message"] == "client_order_id must be unique"
    assert client.ask("DELETE", f"/v2/orders/{identity}")[1]["message"] == "order is not cancelable"
    client.secret = "wrong"
    assert client.ask("GET", "/v2/account")[0] == 403


def test_a_bot_trades_at_binance() -> None:
    client = binance()
    price = client.server.market.price("BTC/USDT", START)
    order = {"symbol": "BTCUSDT", "side": "BUY", "type": "MARKET", "quantity": "0.1"}
    assert client.ask("POST", "/api/v3/order/test", **order) == (200, {})
    _, placed = client.ask("POST", "/api/v3/order", **order)
    (fill,) = placed["fills"]
    assert (placed["status"], float(fill["price"]), fill["commission"]) == ("FILLED", price.ask, "0.00010000")
    limit = order | {"type": "LIMIT", "price": "10", "quantity": "1", "newClientOrderId": "far"}
    assert client.ask("POST", "/api/v3/order", **limit)[1]["status"] == "NEW"
    balances = {each["asset"]: each for each in client.ask("GET", "/api/v3/account")[1]["balances"]}
    assert (balances["USDT"]["locked"], balances["BTC"]["free"]) == ("10.00000000", "0.09990000")
    assert [each["clientOrderId"] for each in client.ask("GET", "/api/v3/openOrders")[1]] == ["far"]
    found = client.ask("GET", "/api/v3/order", symbol="BTCUSDT", origClientOrderId="far")[1]
    assert (
        client.ask("DELETE", "/api/v3/order", symbol="BTCUSDT", orderId=str(found["orderId"]))[1]["status"]
        == "CANCELED"
    )
    assert client.ask("DELETE", "/api/v3/openOrders", symbol="BTCUSDT")[1]["code"] == -2011
    assert [each["status"] for each in client.ask("GET", "/api/v3/allOrders", symbol="BTCUSDT")[1]] == [
        "FILLED",
        "CANCELED",
    ]
    (trade,) = client.ask("GET", "/api/v3/myTrades", symbol="BTCUSDT")[1]
    assert (trade["qty"], trade["isMaker"]) == ("0.10000000", False)
    coins = {each["coin"] for each in client.ask("GET", "/sapi/v1/capital/config/getall")[1]}
    assert {"BTC", "ETH", "USDT"} <= coins


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"symbol": "NONE"}, -1121),
        ({"side": "UP"}, -1117),
        ({"type": "STOP_LOSS"}, -1116),
        ({"type": "LIMIT"}, -1102),
        ({"quantity": ""}, -1102),
        ({"quantity": "0.000001"}, -1013),
        ({"quantity": "0.00001"}, -1013),
        ({"quantity": "1000"}, -2010),
        ({"side": "SELL"}, -2010),
    ],
)
def test_binance_refuses_orders(changes: dict[str, str], code: int) -> None:
    order = {"symbol": "BTCUSDT", "side": "BUY", "type": "MARKET", "quantity": "0.1"} | changes
    status, problem = binance().ask("POST", "/api/v3/order", **order)
    assert (status, problem["code"]) == (400, code)


def test_binance_checks_keys_and_signatures() -> None:
    client = binance()
    assert client.send("GET", "/api/v3/account")[1]["code"] == -2014
    assert client.send("GET", "/api/v3/account", X_MBX_APIKEY="other")[1]["code"] == -2015
    assert client.send("GET", "/api/v3/account", X_MBX_APIKEY="key")[1]["code"] == -1102
    client.secret = "wrong"
    assert client.ask("GET", "/api/v3/account")[1]["code"] == -1022
    assert client.ask("POST", "/api/v3/klines")[1]["code"] == -1020


def test_a_bot_trades_at_kraken() -> None:
    client = kraken()
    price = client.server.market.price("BTC/USD", START)
    placed = client.ask("AddOrder", pair="XBTUSD", type="buy", ordertype="market", volume="0.1")
    assert placed["descr"]["order"] == "buy 0.1 XBTUSD @ market"
    (txid,) = placed["txid"]
    order = client.ask("QueryOrders", txid=txid)[txid]
    assert (order["status"], float(order["price"]), order["vol_exec"]) == ("closed", price.ask, "0.1")
    assert client.ask("Balance")["XXBT"] == "0.1"
    limit = {"pair": "XBTUSD", "type": "sell", "ordertype": "limit", "volume": "0.1", "price": "999999"}
    assert "txid" not in client.ask("AddOrder", **limit, validate="true")
    (waiting,) = client.ask("AddOrder", **limit)["txid"]
    assert [*client.ask("OpenOrders")["open"]] == [waiting]
    assert client.ask("BalanceEx")["XXBT"] == {"balance": "0.1", "hold_trade": "0.1"}
    assert client.ask("CancelOrder", txid=waiting) == {"count": 1}
    assert client.ask("CancelAll") == {"count": 0}
    closed = client.ask("ClosedOrders")
    assert ([*closed["closed"]], closed["count"]) == ([waiting, txid], 2)
    (trade,) = client.ask("TradesHistory")["trades"].values()
    assert (trade["ordertxid"], trade["vol"]) == (txid, "0.1")
    assert client.ask("QueryTrades", txid=order["trades"][0]) == {order["trades"][0]: trade}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"pair": "NONE"}, "EQuery:Unknown asset pair"),
        ({"type": "up"}, "EGeneral:Invalid arguments:type"),
        ({"ordertype": "iceberg"}, "EGeneral:Invalid arguments:ordertype"),
        ({"volume": "x"}, "EGeneral:Invalid arguments:volume"),
        ({"ordertype": "limit"}, "EGeneral:Invalid arguments:price"),
        ({"volume": "1000"}, "EOrder:Insufficient funds"),
        ({"type": "sell"}, "EOrder:Insufficient funds"),
    ],
)
def test_kraken_refuses_orders(changes: dict[str, str], problem: str) -> None:
    order = {"pair": "XBTUSD", "type": "buy", "ordertype": "market", "volume": "0.1"} | changes
    assert kraken().ask("AddOrder", **order) == problem


def test_kraken_checks_keys_signatures_and_nonces() -> None:
    client = kraken()
    _, answer = client.send("POST", "/0/private/Balance", API_Key="other")
    assert answer["error"] == ["EAPI:Invalid key"]
    assert client.ask("Stake") == "EGeneral:Unknown method: POST /0/private/Stake is not simulated"
    assert client.ask("CancelOrder", txid="none") == "EOrder:Unknown order"
    client.nonces = count(1)
    assert client.ask("Balance") == "EAPI:Invalid nonce"
    client.secret = base64.b64encode(b"wrong").decode()
    assert client.ask("Balance") == "EAPI:Invalid signature"


def test_orders_wait_for_the_end_of_a_halt() -> None:
    """Kraken takes no new ones in a halt, and says why; a waiting one fills by itself afterwards."""
    halt = Planned(Halt(symbols=("AAPL", "BTC/USDT", "BTC/USD"), seconds=60.0), START)
    stocks, pairs = alpaca(halt), binance(halt)
    order = {"symbol": "AAPL", "qty": "1", "side": "buy", "type": "market", "client_order_id": "waits"}
    assert stocks.ask("POST", "/v2/orders", body=order)[1]["status"] == "new"
    limit = {"symbol": "BTCUSDT", "side": "BUY", "type": "LIMIT", "quantity": "0.01", "price": "999999"}
    assert pairs.ask("POST", "/api/v3/order", **limit)[1]["status"] == "NEW"
    for client in (stocks, pairs):
        client.tick(61_000)
    waited = stocks.ask("GET", "/v2/orders:by_client_order_id", query="client_order_id=waits")[1]
    assert waited["status"] == "filled"
    assert pairs.ask("GET", "/api/v3/allOrders", symbol="BTCUSDT")[1][0]["status"] == "FILLED"
    refused = kraken(halt).ask("AddOrder", pair="XBTUSD", type="buy", ordertype="market", volume="0.1")
    assert refused == "EService:Market in cancel_only mode"
