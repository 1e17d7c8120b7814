"""The offer of the Central Bank of Türkiye: its rates of the day."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from quotecast.market.feeds import Feed
from quotecast.providers.offer import HttpUrl, Offer, Terms
from quotecast.providers.tcmb.client import Tcmb
from quotecast.providers.turkey.client import TurkeyProvider


class TcmbSettings(Struct, frozen=True, kw_only=True):
    """The variables `QUOTECAST_TCMB_*`."""

    url: Annotated[HttpUrl, Meta(description="Central Bank of Türkiye")] = "https://www.tcmb.gov.tr"


OFFER: Final = Offer[TcmbSettings](
    settings=TcmbSettings,
    terms={
        "tcmb": Terms(
            show="yes",
            redistribute="agreement",
            attribution="Central Bank of the Republic of Türkiye",
            source="https://www3.tcmb.gov.tr/yillikrapor/2020/en/m-4-2.html",
            read="2026-11-28",
            summary="may be quoted with the source; commercial use needs written permission",
        ),
    },
    quotes={Feed.DOVIZ: lambda settings, _budgets: TurkeyProvider([], Tcmb(settings.url))},
)
