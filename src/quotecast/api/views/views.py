"""Views of the market: the services of a client that may not have all of it.

Routes read only the services of their request. The view of a client without a feed has an empty mirror there,
no provider and no document, so that no route can answer with data of that feed. The view of a client with
delayed quotes has the delayed market alone.
"""

from typing import Final, NamedTuple

from msgspec.structs import replace

from quotecast.access.grant import Grant
from quotecast.access.plans import Reach
from quotecast.api.market.names import Names
from quotecast.api.market.searching import Searches
from quotecast.api.market.services import NO_PROVIDER, MarketServices, Services
from quotecast.api.views.delayed import DelayedMarket, delayed_services
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed


class ViewKey(NamedTuple):
    """The key of a view: the names of its feeds, its past, whether it is late, and its symbols."""

    feeds: tuple[str, ...]
    reach: Reach | None
    is_delayed: bool
    #: Names of symbols and groups; empty for all.
    only: tuple[str, ...] = ()


#: Views that a worker holds; a plan and a scope make few.
MAX_VIEWS: Final = 200


class Views:
    """The views of a worker, made when a client first needs them; without `delayed` none is late."""

    def __init__(self, services: MarketServices, delayed: DelayedMarket | None = None) -> None:
        self._services = services
        self._delayed = None if delayed is None else delayed_services(services, delayed)
        self._views: dict[ViewKey, MarketServices] = {}
        self._whole = ViewKey(tuple(feed.spec.name for feed in Feed), None, is_delayed=False)

    @property
    def whole(self) -> MarketServices:
        """The services of a client that may have all of the market."""
        return self._services

    @property
    def has_delayed(self) -> bool:
        """Whether this worker has the delayed market."""
        return self._delayed is not None

    def key_of(self, grant: Grant, *, for_list: bool = False) -> ViewKey:
        """Returns the key of a client's view; `for_list` of that with the symbols of its key alone."""
        days = grant.plan.history_days
        reach = None if days is None else Reach(grant.plan_name, days)
        feeds = tuple(feed.spec.name for feed in Feed if grant.has_feed(feed))
        return ViewKey(feeds, reach, is_delayed=grant.plan.is_delayed, only=grant.only if for_list else ())

    def of(self, key: ViewKey) -> MarketServices | None:
        """Returns a view; None for the whole market."""
        if key == self._whole:
            return None
        view = self._views.get(key)
        if view is None:
            if len(self._views) >= MAX_VIEWS:
                del self._views[next(iter(self._views))]
            view = self._views[key] = self._make(key)
        return view

    def _make(self, key: ViewKey) -> MarketServices:
        name = " ".join(map(str, key))
        if key.only:
            return replace(self.of(key._replace(only=())) or self._services, only=key.only, view=name)
        market = self._delayed if key.is_delayed else self._services
        # Without a delayed market such a view has no feed.
        feeds = [feed for feed in Feed if market is not None and feed.spec.name in key.feeds]
        whole = market or self._services
        mirrors = {feed: whole.mirrors[feed] if feed in feeds else Mirror(feed) for feed in Feed}
        # News, assets and companies belong to the stocks.
        has_stocks = Feed.STOCKS in feeds
        documents = whole.documents if has_stocks else Documents()
        view = replace(
            whole,
            mirrors=mirrors,
            documents=documents,
            names=Names(mirrors, documents),
            searches=Searches(mirrors, documents),
            providers={feed: whole.providers[feed] if feed in feeds else NO_PROVIDER for feed in Feed},
            view=name,
            reach=key.reach,
        )
        if not isinstance(view, Services):
            return view
        return replace(
            view,
            history={feed: providers for feed, providers in view.history.items() if feed in feeds},
            financials=view.financials if has_stocks else None,
            actions=view.actions if has_stocks else (),
            sparklines={},
        )
