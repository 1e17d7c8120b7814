"""alpaca-py's trading client: a bot that buys, waits for a limit, and sells."""

import json
import sys

from alpaca.trading.client import TradingClient
from alpaca.trading.enums import OrderSide, QueryOrderStatus, TimeInForce
from alpaca.trading.requests import GetOrdersRequest, LimitOrderRequest, MarketOrderRequest

client = TradingClient("key", "secret", paper=True, url_override=sys.argv[1])
before = client.get_account()
bought = client.submit_order(
    MarketOrderRequest(symbol="AAPL", qty=10, side=OrderSide.BUY, time_in_force=TimeInForce.DAY)
)
coin = client.submit_order(
    MarketOrderRequest(symbol="BTC/USD", notional=1000, side=OrderSide.BUY, time_in_force=TimeInForce.GTC)
)
far = client.submit_order(
    LimitOrderRequest(
        symbol="AAPL",
        qty=1,
        side=OrderSide.BUY,
        time_in_force=TimeInForce.DAY,
        limit_price=1.5,
        client_order_id="far",
    )
)
waiting = client.get_orders(GetOrdersRequest(status=QueryOrderStatus.OPEN))
client.cancel_order_by_id(far.id)
positions = client.get_all_positions()
client.close_position("BTCUSD")
closed = client.close_all_positions()
after = client.get_account()
answer = {
    "cash": [before.cash, after.cash],
    "statuses": [str(bought.status.value), coin.status.value, far.status.value],
    "filled": [bought.filled_qty, bought.filled_avg_price],
    "waiting": [order.client_order_id for order in waiting],
    "canceled": client.get_order_by_client_id("far").status.value,
    "positions": {each.symbol: each.qty for each in positions},
    "closed": [each.symbol for each in closed],
    "left": len(client.get_all_positions()),
    "orders": len(client.get_orders(GetOrdersRequest(status=QueryOrderStatus.ALL))),
}
sys.stdout.write(json.dumps(answer))
