"""The settings of feeds and providers: a feed's provider and rate limit, and each provider's own variables.

`quotecast.settings.loading` reads them from the environment.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct, inspect
from msgspec.structs import FieldInfo, fields

from quotecast.environment import PREFIX
from quotecast.market.feeds import Feed
from quotecast.providers.offer import VARIABLE, Offer
from quotecast.providers.offers import BUILT_IN, NONE, built_in, offer_of

PerMinute = Annotated[int, Meta(ge=1, le=1_000_000)]


class Variable(Struct, frozen=True):
    """An environment variable and the struct's field that it sets."""

    name: str
    field: FieldInfo
    #: Whether its value may come from a file.
    secret: bool = False


def variables_of(provider: str, offer: Offer[Any]) -> Iterator[Variable]:
    """Yields the variables of a provider's own settings."""
    for field in fields(offer.settings):
        kind = inspect.type_info(field.type)
        extra = (kind.extra or {}) if isinstance(kind, inspect.Metadata) else {}
        name = extra.get(VARIABLE, f"{provider.upper()}_{field.name.upper()}")
        yield Variable(PREFIX + name, field, secret=field.name in offer.keys)


def own_variables() -> list[Variable]:
    """Returns the variables of all built-in providers, each once: some providers share a variable."""
    every = (each for name, offer in BUILT_IN.items() for each in variables_of(name, offer))
    return list({variable.name: variable for variable in every}.values())


def key_variables(provider: str) -> list[str]:
    """Returns the names of the variables that hold a provider's keys."""
    return [each.name for each in variables_of(provider, offer_of(provider)) if each.secret]


def names_of(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Returns the providers that a setting names, one or several."""
    return (value,) if isinstance(value, str) else value


def _describe(text: str, group: str) -> str:
    return f"{text} ({', '.join(f'`{name}`' for name in built_in(group))})"


class ProviderSettings(Struct, frozen=True, kw_only=True):
    """The providers and rate limits of the feeds and of company data, and each provider's own settings."""

    stocks: Annotated[
        str, Meta(description=_describe("Provider of stock quotes, bars, news and assets", "stocks"))
    ] = "simulator"
    crypto: Annotated[
        tuple[str, ...],
        Meta(
            description=_describe(
                "Providers of crypto quotes and bars, in order of preference: each replaces the previous "
                "one when that fails",
                "crypto",
            )
        ),
    ] = ("simulator",)
    doviz: Annotated[
        str, Meta(description=_describe("Provider of Turkish currency, gold and metal quotes", "doviz"))
    ] = "simulator"
    financials: Annotated[str, Meta(description=_describe("Provider of company data", "financials"))] = (
        "simulator"
    )
    limit_market: Annotated[PerMinute, Meta(description="Requests per minute and path: market")] = 120
    limit_crypto: Annotated[PerMinute, Meta(description="Requests per minute and path: crypto")] = 120
    limit_doviz: Annotated[PerMinute, Meta(description="Requests per minute and path: doviz")] = 120
    limit_prices: Annotated[
        PerMinute, Meta(description="Requests per minute and path: prices, rates, quality")
    ] = 120
    limit_search: Annotated[PerMinute, Meta(description="Requests per minute and path: search")] = 120
    limit_financials: Annotated[PerMinute, Meta(description="Requests per minute and path: financials")] = 30
    #: Each provider's own settings, by its name.
    own: Mapping[str, Any] = msgspec.field(
        default_factory=lambda: {name: offer.settings() for name, offer in BUILT_IN.items()}
    )

    def providers_of(self, group: str) -> tuple[str, ...]:
        """Returns the configured providers of a feed or of `financials`."""
        return tuple(name for name in names_of(getattr(self, group)) if name != NONE)

    def configured_feeds(self) -> list[Feed]:
        """Returns the feeds that have a provider."""
        return [feed for feed in Feed if self.providers_of(feed)]


#: The field that is not set by a variable of its own.
OWN: Final = "own"
