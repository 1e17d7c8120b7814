"""The form of a client's frames."""

from typing import NamedTuple

from msgspec import UNSET

from quotecast.feed.bar_styles import BarStyle, bar_style_of
from quotecast.feed.encoding import JSON, Encoding
from quotecast.feed.frames import Label
from quotecast.feed.projection import WHOLE, Projection, projection_of
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval


class Form(NamedTuple):
    """The encoding of frames, the projection of quotes, the label, and the style of bars.

    Without a style the client receives no bars.
    """

    encoding: Encoding = JSON
    projection: Projection = WHOLE["json"]
    label: Label = UNSET
    bars: BarStyle | None = None

    def select(self, feed: Feed, fields: tuple[str, ...] | None) -> "Form":
        """Returns this form for other moving fields; None is all of them."""
        encoding = self.encoding
        chosen = projection_of(feed, encoding.notation, rows=encoding.rows, selected=fields)
        return self._replace(projection=chosen)

    def with_bars(self, feed: Feed, interval: LiveInterval | None) -> "Form":
        """Returns this form with bars of an interval, or without bars."""
        if interval is None:
            return self._replace(bars=None)
        encoding = self.encoding
        return self._replace(bars=bar_style_of(feed, encoding.notation, interval, rows=encoding.rows))
