"""The tables of alerts: what users wait for, what happened, and whom the service tells."""

from typing import Final

from piccolo.columns import (
    BigSerial,
    Boolean,
    DoublePrecision,
    ForeignKey,
    Integer,
    OnDelete,
    Text,
    Timestamptz,
    Varchar,
)
from piccolo.constraints import Check, Unique
from piccolo.table import Table

from quotecast.accounts.engine import DB
from quotecast.accounts.tables import User
from quotecast.market.feeds import Feed

_KINDS: Final = ", ".join(f"'{feed.spec.kind}'" for feed in Feed)
_MEASURES: Final = "measure IN ('price', '5m', '15m', '1h', 'day')"
_DIRECTIONS: Final = "direction IN ('up', 'down')"


class Alert(Table, tablename="alerts", db=DB):
    """A threshold of a user on a measure of a symbol; a crossing makes an event.

    The measure `price` is in the quote's currency; `5m`, `15m`, `1h` and `day` are changes in percent.
    """

    id = Varchar(length=24, primary_key=True, default=None)
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, index=True, default=None)
    kind = Varchar(length=6, default=None)
    ticker = Varchar(length=40, default=None)
    measure = Varchar(length=5, default=None)
    direction = Varchar(length=4, default=None)
    threshold = DoublePrecision(default=None)
    note = Varchar(length=200, default="")
    #: An alert that does not repeat becomes inactive with its first event.
    repeats = Boolean(default=False)
    active = Boolean(default=True)
    #: Events since the alert was created or started: at a bound it becomes inactive.
    events = Integer(default=0)
    by_webhook = Boolean(default=False)
    by_push = Boolean(default=False)
    created_at = Timestamptz()
    #: Crossings before this time are not events of the alert.
    armed_at = Timestamptz()

    alerts_id_is_hexadecimal = Check("id ~ '^[0-9a-f]{24}$'")
    alerts_kind_is_known = Check(f"kind IN ({_KINDS})")
    alerts_ticker_is_plain = Check("ticker ~ '^[A-Za-z0-9./-]+$'")
    alerts_measure_is_known = Check(_MEASURES)
    alerts_direction_is_known = Check(_DIRECTIONS)
    # The bounds exclude infinity and NaN too.
    alerts_threshold_is_in_bounds = Check("threshold > -1e12 AND threshold < 1e12")


class AlertEvent(Table, tablename="alert_events", db=DB):
    """A crossing that an alert waited for, with what the alert said then: it outlives the alert."""

    #: Grows in the order of commits: writers take turns.
    id = BigSerial(primary_key=True)
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, default=None)
    alert_id = Varchar(length=24, default=None)
    #: Names the crossing in its feed, so that no alert has it twice.
    crossing = Varchar(length=60, default=None)
    kind = Varchar(length=6, default=None)
    ticker = Varchar(length=40, default=None)
    measure = Varchar(length=5, default=None)
    direction = Varchar(length=4, default=None)
    threshold = DoublePrecision(default=None)
    note = Varchar(length=200, default="")
    #: The measure after the crossing, and the price then.
    value = DoublePrecision(default=None)
    price = DoublePrecision(default=None)
    happened_at = Timestamptz()

    alert_events_name_a_crossing_once = Unique([alert_id, crossing])


class Webhook(Table, tablename="webhooks", db=DB):
    """The address to which the service posts a user's events."""

    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, primary_key=True, default=None)
    url = Text(default=None)
    #: Signs the posts; the receiver has it too.
    signing_secret = Text(default=None, secret=True)
    created_at = Timestamptz()
    last_sent_at = Timestamptz(null=True, default=None)
    last_error = Varchar(length=200, default="")
    last_error_at = Timestamptz(null=True, default=None)

    webhooks_url_is_short = Check("octet_length(url) <= 2048")


class PushSubscription(Table, tablename="push_subscriptions", db=DB):
    """A browser that takes a user's events by Web Push (RFC 8030), with its keys (RFC 8291)."""

    id = Varchar(length=24, primary_key=True, default=None)
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, default=None)
    endpoint = Text(default=None)
    p256dh = Text(default=None)
    auth = Text(default=None, secret=True)
    created_at = Timestamptz()

    push_subscriptions_name_a_browser_once = Unique([user_id, endpoint])
    push_subscriptions_endpoint_is_short = Check("octet_length(endpoint) <= 2048")


class AlertDelivery(Table, tablename="alert_deliveries", db=DB):
    """An event on its way to a webhook or a browser."""

    id = BigSerial(primary_key=True)
    event_id = ForeignKey(AlertEvent, on_delete=OnDelete.cascade, null=False, index=True, default=None)
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, index=True, default=None)
    channel = Varchar(length=7, default=None)
    #: The id of the push subscription; empty for a webhook.
    target = Varchar(length=24, default="")
    attempts = Integer(default=0)
    state = Varchar(length=7, default="waiting")
    created_at = Timestamptz()
    #: The next try; while an instance sends, the time at which another one may.
    next_at = Timestamptz()
    last_error = Varchar(length=200, default="")

    alert_deliveries_channel_is_known = Check("channel IN ('webhook', 'push')")
    alert_deliveries_state_is_known = Check("state IN ('waiting', 'sent', 'failed')")
