"""Paper accounts: balances and orders in memory, filled at the simulated market.

An account belongs to a key. A market order fills at the ask or the bid when the instrument trades, a limit
order when the market reaches its price; both fill as a whole. There is no credit and no short sale.
"""

from collections.abc import Callable, Mapping
from decimal import ROUND_DOWN, Decimal
from typing import Final, Literal

from msgspec import Struct

from quotecast.simulation.vendors.market import Market

Side = Literal["buy", "sell"]
Status = Literal["open", "filled", "canceled", "rejected"]

#: Accounts, open orders of one, and ended orders that it remembers.
_MOST_ACCOUNTS: Final = 1000
_MOST_OPEN: Final = 200
_MOST_ENDED: Final = 10_000
#: Digits of balances: those of a coin.
_UNIT: Final = Decimal("1e-8")


class Refused(Exception):
    """An order that no account may place, or cancel."""

    def __init__(self, reason: Literal["funds", "quantity", "many", "ended"]) -> None:
        super().__init__(reason)
        self.reason = reason


class Order(Struct, kw_only=True):
    """An order of `quantity` shares or coins; `symbol` is the market's, times are Unix milliseconds."""

    number: int
    client_id: str
    symbol: str
    base: str
    quote: str
    side: Side
    quantity: Decimal
    #: None for a market order.
    limit: Decimal | None
    placed: int
    status: Status = "open"
    ended: int | None = None
    #: Of the fill; the fee is in `fee_asset`.
    price: Decimal | None = None
    fee: Decimal = Decimal(0)
    fee_asset: str = ""
    #: What the account set aside for it: quote of a purchase, base of a sale.
    held: Decimal = Decimal(0)

    @property
    def filled(self) -> Decimal:
        """The quantity that was traded: all or nothing."""
        return self.quantity if self.status == "filled" else Decimal(0)

    @property
    def cost(self) -> Decimal:
        """Returns the value of the fill, in the quote asset."""
        return money(self.filled * (self.price or Decimal(0)))


class Account:
    """The balances and orders of one key."""

    def __init__(self, cash: Mapping[str, Decimal]) -> None:
        self.free: dict[str, Decimal] = dict(cash)
        self.held: dict[str, Decimal] = {}
        #: What was paid for what the account has of an asset, in the quote asset.
        self.paid: dict[str, Decimal] = {}
        self.orders: dict[int, Order] = {}
        #: Those that are open: every tick of the market looks at them.
        self._open: dict[int, Order] = {}

    def total(self, asset: str) -> Decimal:
        """Returns what the account has of an asset, that set aside included."""
        return self.free.get(asset, Decimal(0)) + self.held.get(asset, Decimal(0))

    def assets(self) -> list[str]:
        """Returns the assets with a balance, sorted."""
        return sorted(asset for asset in self.free.keys() | self.held.keys() if self.total(asset))

    def open_orders(self) -> list[Order]:
        """Returns the open orders, the oldest first."""
        return [*self._open.values()]

    def add(self, order: Order) -> None:
        """Adds an open order; of too many the oldest ended one goes."""
        self.orders[order.number] = self._open[order.number] = order
        if len(self.orders) > _MOST_ENDED + _MOST_OPEN:
            del self.orders[next(number for number in self.orders if number not in self._open)]

    def end(self, order: Order, status: Status, moment: int) -> None:
        """Ends an open order, and releases what was set aside for it."""
        self.hold(order.quote if order.side == "buy" else order.base, -order.held)
        order.status, order.ended, order.held = status, moment, Decimal(0)
        del self._open[order.number]

    def hold(self, asset: str, amount: Decimal) -> None:
        """Sets an amount aside; a negative one is released. Raises Refused without the funds."""
        if amount > self.free.get(asset, Decimal(0)):
            raise Refused("funds")
        self.free[asset] = self.free.get(asset, Decimal(0)) - amount
        self.held[asset] = self.held.get(asset, Decimal(0)) + amount


class PaperAccounts:
    """The accounts of one vendor's clients.

    Each begins with `cash`. A fill costs `fee`, a share of it, in the quote asset, or with `fee_of_received`
    in what the account receives. `trades` says whether an instrument trades at a moment.
    """

    def __init__(
        self,
        market: Market,
        *,
        cash: Mapping[str, Decimal],
        fee: Decimal,
        fee_of_received: bool = False,
        trades: Callable[[str, int], bool],
    ) -> None:
        self._market = market
        self._cash = cash
        self._fee = fee
        self._fee_of_received = fee_of_received
        self._trades = trades
        self._accounts: dict[str, Account] = {}
        self._numbers = 0

    def of(self, key: str) -> Account:
        """Returns the account of a key; of too many the oldest one ends."""
        if key not in self._accounts:
            if len(self._accounts) >= _MOST_ACCOUNTS:
                del self._accounts[next(iter(self._accounts))]
            self._accounts[key] = Account(self._cash)
        return self._accounts[key]

    def place(
        self,
        account: Account,
        symbol: str,
        assets: tuple[str, str],
        side: Side,
        quantity: Decimal,
        *,
        limit: Decimal | None,
        moment: int,
        client_id: str = "",
    ) -> Order:
        """Places an order, and fills it if the market is there. Raises Refused."""
        if quantity <= 0 or (limit is not None and limit <= 0):
            raise Refused("quantity")
        if len(account.open_orders()) >= _MOST_OPEN:
            raise Refused("many")
        base, quote = assets
        price = self._price(symbol, side, moment) if limit is None else limit
        held = money(quantity * price * (1 + self._paid_fee)) if side == "buy" else quantity
        account.hold(quote if side == "buy" else base, held)
        self._numbers += 1
        order = Order(
            number=self._numbers,
            client_id=client_id or f"paper-{self._numbers}",
            symbol=symbol,
            base=base,
            quote=quote,
            side=side,
            quantity=quantity,
            limit=limit,
            placed=moment,
            held=held,
        )
        account.add(order)
        self._try(account, order, moment)
        return order

    def cancel(self, account: Account, order: Order, moment: int) -> None:
        """Cancels an open order. Raises Refused for one that has ended."""
        if order.status != "open":
            raise Refused("ended")
        account.end(order, "canceled", moment)

    def settle(self, moment: int) -> None:
        """Fills the open orders that the market has reached."""
        for account in self._accounts.values():
            for order in account.open_orders():
                self._try(account, order, moment)

    @property
    def _paid_fee(self) -> Decimal:
        return Decimal(0) if self._fee_of_received else self._fee

    def _price(self, symbol: str, side: Side, moment: int) -> Decimal:
        price = self._market.price(symbol, moment)
        return Decimal(str(price.ask if side == "buy" else price.bid))

    def _try(self, account: Account, order: Order, moment: int) -> None:
        if not self._trades(order.symbol, moment):
            return
        price = self._price(order.symbol, order.side, moment)
        if order.limit is not None:
            if (price > order.limit) if order.side == "buy" else (price < order.limit):
                return
            # One that waits is in the book at its own price.
            price = price if order.placed == moment else order.limit
        self._fill(account, order, price, moment)

    def _fill(self, account: Account, order: Order, price: Decimal, moment: int) -> None:
        cost = money(order.quantity * price)
        if (
            order.side == "buy"
            and cost + money(cost * self._paid_fee) > order.held + account.free[order.quote]
        ):
            # The market ran away from an order that waited for its opening.
            account.end(order, "rejected", moment)
            return
        account.end(order, "filled", moment)
        order.price = price
        in_base = order.side == "buy" and self._fee_of_received
        order.fee_asset = order.base if in_base else order.quote
        order.fee = money((order.quantity if in_base else cost) * self._fee)
        free, base, quote = account.free, order.base, order.quote
        had, paid = account.total(base), account.paid.get(base, Decimal(0))
        if order.side == "buy":
            free[base] = free.get(base, Decimal(0)) + order.quantity
            free[quote] -= cost
            account.paid[base] = paid + cost
        else:
            free[base] -= order.quantity
            free[quote] = free.get(quote, Decimal(0)) + cost
            account.paid[base] = paid - money(paid * order.quantity / had)
        free[order.fee_asset] -= order.fee


def money(amount: Decimal) -> Decimal:
    """Returns an amount in whole units, rounded down."""
    return amount.quantize(_UNIT, ROUND_DOWN)


def plain(amount: Decimal) -> str:
    """Returns an amount without zeros at its end."""
    return f"{amount.normalize():f}"


def newest(orders: Mapping[int, Order]) -> list[Order]:
    """Returns orders, the newest first."""
    return [*orders.values()][::-1]
