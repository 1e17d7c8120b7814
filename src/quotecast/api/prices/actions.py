"""Corporate actions through the cache, and the adjustment of prices that follows from them."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import partial
from typing import Final, Literal

import msgspec

from quotecast.api.bars.market import Market
from quotecast.api.market.services import Services
from quotecast.api.prices.closes import Closes, today_of
from quotecast.background import in_background
from quotecast.cache.base import Cached, Policy
from quotecast.errors import InvalidValue, NotOffered, ProviderMissing
from quotecast.market.actions import Adjustment, CorporateAction, with_dividends, without_splits
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed
from quotecast.providers.base import ActionsProvider

#: For which actions prices are adjusted: none, splits (as bars are), or splits and dividends.
Adjusted = Literal["raw", "splits", "all"]

#: An hour: on the morning of a split all prices before it change.
_POLICY: Final = Policy(fresh_seconds=3600)
_VERSION: Final = 1
EARLIEST: Final = date(1970, 1, 1)
#: How far ahead actions are announced.
ANNOUNCED: Final = timedelta(days=365)
_NOTHING: Final = Adjustment()

_decode: Final = msgspec.json.Decoder(list[CorporateAction]).decode


async def read_actions(services: Services, symbol: str) -> tuple[Cached, list[CorporateAction]]:
    """Returns all actions of a stock, ascending by ex-day, of the first provider whose plan has them.

    Raises ProviderMissing, NotOffered or UpstreamError.
    """
    refusal: NotOffered | ProviderMissing = ProviderMissing("corporate actions")
    for provider in services.actions:
        key = f"{provider.name}:actions{_VERSION}:{symbol}"
        try:
            cached = await services.cache.read(key, _POLICY, partial(_fetch, services, provider, symbol))
        except NotOffered as error:
            refusal = error
        else:
            return cached, _decode(cached.body)
    raise refusal


async def _fetch(services: Services, provider: ActionsProvider, symbol: str) -> bytes:
    last = services.wall_time().date() + ANNOUNCED
    found = await provider.actions(symbol, EARLIEST, last)
    now = services.wall_time()
    in_background(services.known_actions.record(provider.name, symbol, found, now))
    return encode_json(found)


async def actions_known_at(services: Services, symbols: Sequence[str], at: datetime) -> list[CorporateAction]:
    """Returns the actions of some stocks as this service knew them at a moment.

    Raises InvalidValue if it had not read those of a stock by then, ProviderMissing, and DatabaseAway.
    """
    if not services.actions:
        raise ProviderMissing("corporate actions")
    found: list[CorporateAction] = []
    unread = symbols
    for provider in services.actions:
        if unread:
            read = await services.known_actions.read(provider.name, unread, at)
            found += read.actions
            unread = read.unread
    if unread:
        raise InvalidValue("as_of", f"Must not be before the actions of {', '.join(unread)} were first read")
    return found


async def adjustment_of(services: Services, market: Market, closes: Closes, adjusted: Adjusted) -> Adjustment:
    """Returns what split-adjusted prices of a market are multiplied by.

    `closes` are split-adjusted, up to today; dividends need them. Raises as `read_actions` does.
    """
    if market.feed is not Feed.STOCKS or adjusted == "splits":
        return _NOTHING
    if services.as_of is None:
        _, actions = await read_actions(services, market.symbol)
    else:
        actions = await actions_known_at(services, [market.symbol], market.moment)
    today = today_of(market)
    return without_splits(actions, today) if adjusted == "raw" else with_dividends(actions, closes, today)
