"""The offer of Truncgil with GenelPara and the central bank: the Turkish market."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from quotecast.market.feeds import Feed
from quotecast.providers.genelpara.client import GenelPara
from quotecast.providers.offer import VARIABLE, HttpUrl, Offer, Terms
from quotecast.providers.tcmb.client import Tcmb
from quotecast.providers.truncgil.client import Truncgil
from quotecast.providers.turkey.client import TurkeyProvider


class TruncgilSettings(Struct, frozen=True, kw_only=True):
    """The variables `QUOTECAST_TRUNCGIL_*`, and the addresses of the sources beside it."""

    tcmb_url: Annotated[
        HttpUrl, Meta(description="Central Bank of Türkiye", extra={VARIABLE: "TCMB_URL"})
    ] = "https://www.tcmb.gov.tr"
    url: Annotated[HttpUrl, Meta(description="Truncgil, versions 3 and 4")] = "https://finans.truncgil.com"
    v5_url: Annotated[HttpUrl, Meta(description="Truncgil, version 5")] = "https://finance.truncgil.com"
    genelpara_url: Annotated[HttpUrl, Meta(description="GenelPara", extra={VARIABLE: "GENELPARA_URL"})] = (
        "https://api.genelpara.com"
    )


OFFER: Final = Offer[TruncgilSettings](
    settings=TruncgilSettings,
    live=True,
    terms={
        "truncgil": Terms(
            source="https://github.com/truncgil/Finans",
            read="2026-11-28",
            summary="a free service of one person: expect outages; we know of no terms",
        ),
        "genelpara": Terms(
            source="https://github.com/berkocan/genelpara-api",
            read="2026-11-28",
            summary="free for 1,000 requests a day; we know of no terms",
        ),
    },
    quotes={
        Feed.DOVIZ: lambda settings, _budgets: TurkeyProvider(
            [Truncgil(settings.url, settings.v5_url), GenelPara(settings.genelpara_url)],
            Tcmb(settings.tcmb_url),
        )
    },
)
