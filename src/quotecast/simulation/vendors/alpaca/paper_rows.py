"""Rows of Alpaca's trading API: orders, positions and the account of a paper account."""

import uuid
from decimal import Decimal
from typing import Final

from quotecast.simulation.vendors.alpaca.rows import asset_row, text
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Market, utc
from quotecast.simulation.vendors.paper import Account, Order, money, plain

_STATUSES: Final = {"open": "new", "filled": "filled", "canceled": "canceled", "rejected": "rejected"}
#: Ids are made of names, so that they are the same at every run.
_SPACE: Final = uuid.UUID(int=0)


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
