"""What the publisher of one feed needs for alerts."""

from msgspec import Struct

from quotecast.alerts.levels import LevelBook
from quotecast.alerts.writer import CrossingWriter


class FeedAlerts(Struct, frozen=True):
    """The thresholds that alerts wait for, and the writer of events."""

    levels: LevelBook
    writer: CrossingWriter
