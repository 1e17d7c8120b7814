"""The offer of Finnhub: company data."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from quotecast.providers.base import Admission
from quotecast.providers.finnhub.client import FinnhubFinancials
from quotecast.providers.finnhub.corporate_actions import FinnhubActions
from quotecast.providers.finnhub.rest import FinnhubRest
from quotecast.providers.offer import Budgets, HttpUrl, Offer, Terms

#: One in so many calls of a plan may be about a company that no list names.
UNLISTED_SHARE: Final = 5


class FinnhubSettings(Struct, frozen=True, kw_only=True):
    """The variables `QUOTECAST_FINNHUB_*`."""

    url: Annotated[HttpUrl, Meta(description="Finnhub")] = "https://finnhub.io/api/v1"
    key: Annotated[str, Meta(description="Finnhub: the key")] = ""
    calls: Annotated[
        int, Meta(ge=1, le=10_000, description="Finnhub: calls per minute, over all workers")
    ] = 55


def _rest(settings: FinnhubSettings, budgets: Budgets) -> FinnhubRest:
    return FinnhubRest(settings.url, settings.key, admitted=budgets("finnhub", settings.calls))


def _unlisted(settings: FinnhubSettings, budgets: Budgets) -> Admission:
    """Returns the admission to a share of the plan; invented symbols cannot use up the rest."""
    return budgets("finnhub unlisted", max(1, settings.calls // UNLISTED_SHARE))


OFFER: Final = Offer[FinnhubSettings](
    settings=FinnhubSettings,
    keys=("key",),
    live=True,
    terms={
        "finnhub": Terms(
            show="agreement",
            redistribute="agreement",
            source="https://finnhub.io/terms-of-service",
            read="2026-09-14",
            summary="for personal use while you subscribe; sharing it, or results from it, needs approval",
        ),
    },
    financials=lambda settings, budgets: FinnhubFinancials(_rest(settings, budgets)),
    unlisted=_unlisted,
    actions=lambda settings, budgets: FinnhubActions(_rest(settings, budgets)),
)
