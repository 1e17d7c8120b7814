# Made by scripts/make_sync.py from _async; not to be edited.
"""Holdings of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from quotecast_client.calls import Call, path, repeatable, without_none
from quotecast_client.rest_types import (
    AllocatedBy,
    Allocation,
    HoldingShown,
    Imported,
    Performance,
    PortfolioValue,
    PositionShown,
    ProposedTransaction,
    TransactionShown,
)

if TYPE_CHECKING:
    from decimal import Decimal

    from quotecast_client._sync.http import Http
    from quotecast_client.calls import Moment
    from quotecast_client.rest_types import HowSold, ValueSpan


class Portfolio:
    """Holdings and their value."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def holdings(self, *, quotes: bool = False, currency: str | None = None) -> list[HoldingShown]:
        """Returns the holdings, the newest first; with `quotes` also their values, perhaps in a currency."""
        query = {"include": "quote" if quotes else None, "currency": currency}
        return self._http.send(Call[list[HoldingShown]]("GET", "/api/portfolio/holdings", query))

    def add(
        self,
        ticker: str,
        shares: float | Decimal,
        avg_cost: float | Decimal,
        *,
        bought_at: str | None = None,
        currency: str | None = None,
        key: str | None = None,
    ) -> HoldingShown:
        """Adds a holding once, however often the request is repeated; `key` is its `Idempotency-Key`."""
        body = without_none(
            ticker=ticker, shares=shares, avg_cost=avg_cost, bought_at=bought_at, currency=currency
        )
        call = Call[HoldingShown]("POST", "/api/portfolio/holdings", body=body, headers=repeatable(key))
        return self._http.send(call)

    def change(self, holding: str, **fields: Any) -> HoldingShown:
        """Changes `shares`, `avg_cost`, `bought_at` or `currency` of a holding."""
        return self._http.send(
            Call[HoldingShown]("PATCH", path("/api/portfolio/holdings/{}", holding), body=fields)
        )

    def remove(self, holding: str) -> None:
        """Removes a holding."""
        self._http.send(Call[None]("DELETE", path("/api/portfolio/holdings/{}", holding)))

    def transactions(self) -> list[TransactionShown]:
        """Returns the ledger, the newest day first."""
        return self._http.send(Call[list[TransactionShown]]("GET", "/api/portfolio/transactions"))

    def add_transaction(
        self,
        kind: Literal["buy", "sell", "dividend", "fee", "split"],
        ticker: str,
        date: Moment,
        *,
        currency: str | None = None,
        key: str | None = None,
        **amounts: float | Decimal,
    ) -> TransactionShown:
        """Adds a transaction once; `key` is its `Idempotency-Key`.

        `amounts` are `shares`, `price` and `fee` of a trade, the `amount` of a dividend or fee, and the
        `old_shares` and `new_shares` of a split.
        """
        body = without_none(type=kind, ticker=ticker, date=str(date), currency=currency, **amounts)
        call = Call[TransactionShown](
            "POST", "/api/portfolio/transactions", body=body, headers=repeatable(key)
        )
        return self._http.send(call)

    def remove_transaction(self, transaction: str) -> None:
        """Removes a transaction."""
        self._http.send(Call[None]("DELETE", path("/api/portfolio/transactions/{}", transaction)))

    def positions(self, method: HowSold | None = None, currency: str | None = None) -> list[PositionShown]:
        """Returns what the ledger adds up to, and what it is worth."""
        query = {"method": method, "currency": currency}
        return self._http.send(Call[list[PositionShown]]("GET", "/api/portfolio/positions", query))

    def performance(self, span: ValueSpan | None = None, currency: str | None = None) -> Performance:
        """Returns the gain and the returns of a range such as `1Y`."""
        query = {"range": span, "currency": currency}
        return self._http.send(Call[Performance]("GET", "/api/portfolio/performance", query))

    def allocation(self, by: AllocatedBy | None = None, currency: str | None = None) -> Allocation:
        """Returns how the present value is divided, by `symbol`, `type`, `currency` or `sector`."""
        query = {"by": by, "currency": currency}
        return self._http.send(Call[Allocation]("GET", "/api/portfolio/allocation", query))

    def proposals(self) -> list[ProposedTransaction]:
        """Returns the splits and dividends that the ledger lacks."""
        return self._http.send(Call[list[ProposedTransaction]]("GET", "/api/portfolio/proposals"))

    def value(
        self, span: ValueSpan | None = None, currency: str | None = None, as_of: Moment | None = None
    ) -> PortfolioValue:
        """Returns the value of each day of a range such as `1Y`; with `as_of` as it was known then."""
        query = {"range": span, "currency": currency, "as_of": as_of}
        return self._http.send(Call[PortfolioValue]("GET", "/api/portfolio/value", query))

    def export_csv(self) -> str:
        """Returns the holdings as CSV."""
        return self._http.send(Call[str]("GET", "/api/portfolio/export"))

    def import_csv(self, text: str, *, dry_run: bool = False, key: str | None = None) -> Imported:
        """Adds all rows of a CSV file or none; none either with `dry_run`, which only checks them."""
        query = {"dry_run": True} if dry_run else {}
        headers = {"Content-Type": "text/csv", **repeatable(key)}
        return self._http.send(Call[Imported]("POST", "/api/portfolio/import", query, text, headers))
