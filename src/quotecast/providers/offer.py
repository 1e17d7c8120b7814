"""Offers: the providers that an upstream has, and its settings."""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Final, Generic, Literal, TypeVar

from msgspec import Meta, Struct

from quotecast.environment import DEMAND
from quotecast.market.calendars import Exchange
from quotecast.market.feeds import Feed
from quotecast.providers.base import (
    ActionsProvider,
    Admission,
    AssetsProvider,
    FinancialsProvider,
    HistoryProvider,
    NewsProvider,
    QuoteProvider,
    RenamesProvider,
)

#: The key in `Meta(extra=...)` of a setting whose variable does not begin with its provider's name.
VARIABLE: Final = "variable"

FINANCIALS: Final = "financials"
#: The groups for which an operator chooses a provider.
GROUPS: Final = (*Feed, FINANCIALS)

_HTTP: Final = "begin with http:// or https:// and hold no spaces"
_WEBSOCKET: Final = "begin with ws:// or wss:// and hold no spaces"
HttpUrl = Annotated[str, Meta(pattern=r"^https?://[^\s]+$", extra={DEMAND: _HTTP})]
WebSocketUrl = Annotated[str, Meta(pattern=r"^wss?://[^\s]+$", extra={DEMAND: _WEBSOCKET})]

#: Returns the admission of an upstream, from its name and its calls per minute.
Budgets = Callable[[str, int], Admission]
#: Returns the calendar of the US exchanges, with today's unscheduled closing or opening.
ExchangeNow = Callable[[], Exchange]


#: A provider's own settings.
S = TypeVar("S", bound=Struct)

#: `agreement`: not without one, or not for commercial purposes.
Allowed = Literal["yes", "no", "agreement", "unknown"]


class Terms(Struct, frozen=True, kw_only=True, rename="camel"):
    """The permissions of a provider's terms; `unknown` if no public text that we know of has them."""

    show: Allowed = "unknown"
    store: Allowed = "unknown"
    redistribute: Allowed = "unknown"
    #: Minutes after which quotes may be shown, whatever `show` says.
    delay_minutes: int | None = None
    #: The text that the terms want beside the data.
    attribution: str | None = None
    source: str | None = None
    #: Day of the newest reading of the source that we know of.
    read: str | None = None
    summary: str


class Offer(Struct, Generic[S], frozen=True, kw_only=True):
    """The offer of one upstream.

    Each function makes a provider when a process starts, from the upstream's own settings and the budgets of
    calls.
    """

    #: The settings' struct: its fields are the variables `QUOTECAST_<PROVIDER>_<FIELD>`.
    settings: type[S]
    #: Fields of the settings that hold secrets; without them the upstream answers nothing.
    keys: tuple[str, ...] = ()
    #: Yields the problems of settings that their types do not catch: `FIELD: problem`.
    problems: Callable[[S], Iterator[str]] = lambda _settings: iter(())
    #: Whether `quotecast up --live` chooses it.
    live: bool = False
    #: Whether its quotes differ from the market's; then it is not a fallback of a real provider.
    simulated: bool = False
    #: Whether ingest follows its feeds as they are, with their numbers, instead of leading them with quotes.
    follows: bool = False
    #: What the terms allow, by the `provider` that quotes name.
    terms: Mapping[str, Terms] = {}

    quotes: Mapping[Feed, Callable[[S, Budgets], QuoteProvider]] = {}
    history: Mapping[Feed, Callable[[S, Budgets, ExchangeNow], HistoryProvider]] = {}
    news: Callable[[S, Budgets], NewsProvider] | None = None
    assets: Callable[[S, Budgets], AssetsProvider] | None = None
    renames: Callable[[S, Budgets], RenamesProvider] | None = None
    financials: Callable[[S, Budgets], FinancialsProvider] | None = None
    actions: Callable[[S, Budgets], ActionsProvider] | None = None
    #: Returns the admission of calls about a company that no list names.
    unlisted: Callable[[S, Budgets], Admission] | None = None

    def serves(self, group: str) -> bool:
        """Returns whether the upstream can be chosen for `financials` or for a feed."""
        if group == FINANCIALS:
            return bool(self.financials)
        return self.follows or Feed(group) in self.quotes
