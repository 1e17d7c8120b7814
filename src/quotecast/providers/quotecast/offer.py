"""The offer of `quotecast`: the feeds, bars and company data of another installation."""

from functools import partial
from typing import Annotated, Final

from msgspec import Meta, Struct

from quotecast.environment import DEMAND
from quotecast.market.feeds import Feed
from quotecast.providers.base import HistoryProvider
from quotecast.providers.offer import VARIABLE, Budgets, ExchangeNow, Offer, Terms
from quotecast.providers.quotecast.history import OriginHistory
from quotecast.providers.quotecast.rest import OriginFinancials, OriginRest

Origin = Annotated[
    str,
    Meta(
        pattern=r"^(|wss?://[^\s/?#@]+)$",
        description="Address of the installation whose feeds `quotecast edge` and the provider "
        "`quotecast` follow, such as wss://quotes.example.com",
        extra={
            DEMAND: "begin with wss:// or ws://, and have a host and maybe a port, but no path",
            VARIABLE: "ORIGIN",
        },
    ),
]
OriginSecret = Annotated[
    str, Meta(description="The `RELAY_SECRET` of the origin", extra={VARIABLE: "ORIGIN_SECRET"})
]


class OriginSettings(Struct, frozen=True, kw_only=True):
    """The variables of the provider, which `quotecast edge` has too."""

    origin: Origin = ""
    origin_secret: OriginSecret = ""


def _history(
    feed: Feed, settings: OriginSettings, _budgets: Budgets, _exchange: ExchangeNow
) -> HistoryProvider:
    return OriginHistory(OriginRest(settings.origin), feed)


OFFER: Final = Offer[OriginSettings](
    settings=OriginSettings,
    keys=("origin_secret",),
    follows=True,
    terms={"quotecast": Terms(summary="those of its vendors")},
    history={feed: partial(_history, feed) for feed in Feed},
    financials=lambda settings, _budgets: OriginFinancials(OriginRest(settings.origin)),
)
