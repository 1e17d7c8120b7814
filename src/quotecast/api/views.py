"""Views of the market: the services of a client that may not have all of it.

Routes read only the services of their request. The view of a client without a feed has an empty mirror there,
no provider and no document, so that no route can answer with data of that feed.
"""

from typing import Final

from msgspec.structs import replace

from quotecast.access.grant import Grant
from quotecast.access.reach import Reach
from quotecast.api.names import Names
from quotecast.api.searching import Searches
from quotecast.api.services import NO_PROVIDER, MarketServices, Services
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed

#: What a view depends on: the names of its feeds, and its past.
ViewKey = tuple[tuple[str, ...], Reach | None]

#: Views that a worker holds; a plan and a scope make few.
MAX_VIEWS: Final = 200


class Views:
    """The views of a worker, made when a client first needs them."""

    def __init__(self, services: MarketServices) -> None:
        self._services = services
        self._views: dict[ViewKey, MarketServices] = {}
        self._whole: ViewKey = (tuple(feed.spec.name for feed in Feed), None)

    @property
    def whole(self) -> MarketServices:
        """The services of a client that may have all of the market."""
        return self._services

    def key_of(self, grant: Grant) -> ViewKey:
        """Returns the key of a client's view."""
        days = grant.plan.history_days
        reach = None if days is None else Reach(grant.plan_name, days)
        return tuple(feed.spec.name for feed in Feed if grant.has_feed(feed)), reach

    def of(self, key: ViewKey) -> MarketServices | None:
        """Returns a view; None for the whole market."""
        if key == self._whole:
            return None
        view = self._views.get(key)
        if view is None:
            if len(self._views) >= MAX_VIEWS:
                del self._views[next(iter(self._views))]
            view = self._views[key] = self._make(*key)
        return view

    def _make(self, names: tuple[str, ...], reach: Reach | None) -> MarketServices:
        whole = self._services
        feeds = [feed for feed in Feed if feed.spec.name in names]
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
            view=f"{','.join(names)} {reach or ''}",
            reach=reach,
        )
        if not isinstance(view, Services):
            return view
        return replace(
            view,
            history={feed: providers for feed, providers in view.history.items() if feed in feeds},
            financials=view.financials if has_stocks else None,
            sparklines={},
        )
