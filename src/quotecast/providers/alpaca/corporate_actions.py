"""Corporate actions from Alpaca's market data.

Source of the format: Alpaca's OpenAPI document of market data, `GET /v1/corporate-actions`. Decoders ignore
unknown fields. Types that are left out change no price of a stock, or ask the holder for a decision.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final

from msgspec import Raw, Struct

from quotecast.errors import UpstreamError
from quotecast.market.actions import CorporateAction
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.money import PLACES
from quotecast.market.numbers import Number, positive, to_float
from quotecast.market.renames import Rename
from quotecast.market.sessions import NEW_YORK
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.rows import decode_rows, readable

NAME: Final = "alpaca"
PATH: Final = "/v1/corporate-actions"
PER_PAGE: Final = 1000
#: A stock with a dividend a month for forty years fills one page; ten years of renames take some more.
MAX_PAGES: Final = 10
RENAMES_SINCE: Final = timedelta(days=3653)


class Row(Struct, frozen=True):
    """A row of any type; its list says which. A field that its type lacks is None."""

    process_date: date
    id: str | None = None
    symbol: str | None = None
    ex_date: date | None = None
    effective_date: date | None = None
    record_date: date | None = None
    payable_date: date | None = None
    old_rate: Number = None
    new_rate: Number = None
    rate: Number = None
    old_symbol: str | None = None
    new_symbol: str | None = None
    acquiree_symbol: str | None = None
    acquiree_rate: Number = None
    acquirer_symbol: str | None = None
    acquirer_rate: Number = None

    def to_action(self, kind: str) -> CorporateAction | None:
        """Returns the action of a row in the list `kind`; None for a row without what its type needs."""
        symbol = _ticker(self.symbol or self.old_symbol or self.acquiree_symbol)
        terms = _terms_of(self, kind)
        if symbol is None or None in terms.values():
            return None
        day = self.ex_date or self.effective_date or self.process_date
        return CorporateAction(
            id=self.id or f"{kind} {symbol} {day}",
            symbol=symbol,
            ex_day=day,
            record_day=self.record_date,
            payable_day=self.payable_date,
            provider=NAME,
            **terms,
        )


#: The lists whose rows are actions of ours.
_LISTS: Final = (
    "forward_splits",
    "reverse_splits",
    "stock_dividends",
    "cash_dividends",
    "name_changes",
    "stock_mergers",
)
_TYPES: Final = ",".join(kind.removesuffix("s") for kind in _LISTS)


def _terms_of(row: Row, kind: str) -> dict[str, Any]:
    """Returns the terms of a row in the list `kind`; one that is None makes the row unreadable."""
    match kind:
        case "stock_dividends":
            rate = _figure(row.rate)
            return {
                "type": "stock_dividend",
                "old_shares": 1.0,
                "new_shares": rate and round(1 + rate, PLACES),
            }
        case "cash_dividends":
            return {"type": "cash_dividend", "amount": _figure(row.rate), "currency": "USD"}
        case "name_changes":
            return {"type": "rename", "new_symbol": _ticker(row.new_symbol)}
        case "stock_mergers":
            return {
                "type": "merger",
                "old_shares": _figure(row.acquiree_rate),
                "new_shares": _figure(row.acquirer_rate),
                "new_symbol": _ticker(row.acquirer_symbol),
            }
        case _:
            return {"type": "split", "old_shares": _figure(row.old_rate), "new_shares": _figure(row.new_rate)}


class Page(Struct, frozen=True):
    """A page of actions: rows by type."""

    corporate_actions: Mapping[str, Sequence[Raw] | None] | None = None
    next_page_token: str | None = None


class AlpacaActions:
    """Corporate actions of US stocks."""

    name = NAME
    every_seconds = 3600.0

    def __init__(self, rest: AlpacaRest) -> None:
        self._rest = rest
        self._refused = RefusalCounter(NAME)

    async def actions(self, symbol: str, first: date, last: date) -> Sequence[CorporateAction]:
        """See ActionsProvider."""
        found, is_whole = await self._read({"symbols": symbol, "types": _TYPES, "sort": "asc"}, first, last)
        if not is_whole:
            raise UpstreamError(f"Alpaca sent more than {MAX_PAGES} pages of corporate actions")
        return [each for each in found if each.symbol == symbol]

    async def renames(self) -> Sequence[Rename]:
        """See RenamesProvider; raises UpstreamError for an empty list."""
        today = datetime.fromtimestamp(self._rest.clock(), NEW_YORK).date()
        # The newest first: of more than all pages hold, the oldest are left out.
        params = {"types": "name_change", "sort": "desc"}
        found, _ = await self._read(params, today - RENAMES_SINCE, today)
        if not found:
            raise UpstreamError("Alpaca lists no renames")
        return [
            Rename(former=each.symbol, symbol=each.new_symbol, day=each.ex_day)
            for each in found
            if each.new_symbol
        ]

    async def _read(
        self, params: dict[str, str], first: date, last: date
    ) -> tuple[list[CorporateAction], bool]:
        """Returns actions, ascending, and whether these are all."""
        params |= {"start": first.isoformat(), "end": last.isoformat(), "limit": str(PER_PAGE)}
        found: list[CorporateAction] = []
        async with self._rest.open() as client:
            for _ in range(MAX_PAGES):
                page = await self._rest.get(client, PATH, Page, params)
                for kind, rows in (page.corporate_actions or {}).items():
                    if kind in _LISTS:
                        decoded = decode_rows(rows or (), Row, self._refused)
                        found += readable((row.to_action(kind) for row in decoded), self._refused)
                if not page.next_page_token:
                    break
                params["page_token"] = page.next_page_token
        return sorted(found, key=lambda each: (each.ex_day, each.id)), not page.next_page_token


def _ticker(text: str | None) -> str | None:
    return None if text is None else canonical_symbol(Feed.STOCKS, text)


def _figure(value: Number) -> float | None:
    return to_float(positive(value))
