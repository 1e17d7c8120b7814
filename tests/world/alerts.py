"""The alerts of a world, and the check that each crossing became one event."""

import random
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, cast

from quotecast.market.feeds import Kind
from world.bar_truth import Break
from world.clock import wall_time
from world.postgres_data import Alert, Tables
from world.postgres_statements import count_alert_change
from world.upstream import Venue

#: Alerts of each feed, and the seconds of the world in which their thresholds are reached, more or less.
_ALERTS: Final = 8
_FIRST_SECONDS: Final = 3.0
_LAST_SECONDS: Final = 26.0
#: Symbols that may have alerts; they never end.
_WATCHED: Final = 2


#: The users who have alerts.
USERS: Final = tuple(f"{number:024x}" for number in range(3))


class Alerts:
    """Alerts on prices, which rise in every venue: each waits for one crossing."""

    def __init__(self, venues: Iterable[Venue], chance: random.Random, broken: Break) -> None:
        self._venues = {venue.feed.spec.kind: venue for venue in venues}
        self._broken = broken
        self._made: list[Alert] = []
        for venue in self._venues.values():
            venue.lasting.update(venue.names[:_WATCHED])
            for _ in range(_ALERTS):
                self._made.append(self._alert(venue, chance))

    def store(self, tables: Tables) -> None:
        """Stores the alerts, as users did before the world began."""
        for alert in self._made:
            tables.alerts[alert.id] = alert
            count_alert_change(tables, alert.kind)

    def check(self, tables: Tables, *, is_calm: bool, is_state_kept: bool) -> None:
        """Checks the events.

        In a calm world no price ever falls, and no state goes back. Where a feed's state is lost, nobody
        knows what crossed meanwhile.
        """
        events = [*tables.alert_events.values()]
        for alert in self._made:
            venue = self._venues[cast("Kind", alert.kind)]
            own = [each for each in events if each.alert_id == alert.id]
            what = f"{alert.ticker} has {len(own)} events at {alert.threshold}: {own}"
            first, price = venue.first[alert.ticker].price, venue.quotes[alert.ticker].price
            if first < alert.threshold <= price and not own and is_state_kept:
                self._broken("each crossing is an event", what)
            if price < alert.threshold and own:
                self._broken("an event is a crossing", what)
            if len(own) > 1 and (is_calm or not alert.repeats):
                self._broken("each crossing is one event", what)
            for event in own:
                if event.value < alert.threshold or event.value not in venue.prices[alert.ticker]:
                    self._broken("an event is a crossing", what)

    def _alert(self, venue: Venue, chance: random.Random) -> Alert:
        # Prices rise by a cent with each quote of the venue.
        reached = venue.price_at(chance.uniform(_FIRST_SECONDS, _LAST_SECONDS))
        return Alert(
            id=f"{chance.getrandbits(96):024x}",
            user_id=chance.choice(USERS),
            kind=venue.feed.spec.kind,
            ticker=chance.choice(venue.names[:_WATCHED]),
            threshold=reached - chance.choice((0.0, 0.005)),
            armed_at=datetime.fromtimestamp(wall_time(), UTC),
            repeats=chance.random() < 0.5,
            by_webhook=chance.random() < 0.7,
        )
