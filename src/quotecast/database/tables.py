"""The tables, with their constraints, which the database checks."""

from typing import Final

from piccolo.columns import (
    JSON,
    BigInt,
    BigSerial,
    Boolean,
    Date,
    DoublePrecision,
    ForeignKey,
    Integer,
    Numeric,
    OnDelete,
    Text,
    Timestamptz,
    Varchar,
)
from piccolo.constraints import Check, Unique
from piccolo.table import Table

from quotecast.database.engine import DB
from quotecast.market.feeds import Feed

_KINDS: Final = ", ".join(f"'{feed.spec.kind}'" for feed in Feed)
_MEASURES: Final = "measure IN ('price', '5m', '15m', '1h', 'day')"
_DIRECTIONS: Final = "direction IN ('up', 'down')"

# `default=None` lets the database refuse a row without the value, where Piccolo would insert a blank.


class User(Table, tablename="users", db=DB):
    """A registered user."""

    id = Varchar(length=24, primary_key=True, default=None)
    name = Varchar(length=100, default=None)
    email = Varchar(length=254, unique=True, default=None)
    password_hash = Text(default=None, secret=True)
    #: An increment invalidates all tokens of the user.
    token_version = Integer(default=0)
    disabled = Boolean(default=False)
    created_at = Timestamptz()

    users_id_is_hexadecimal = Check("id ~ '^[0-9a-f]{24}$'")
    users_name_is_trimmed = Check("name <> '' AND name = btrim(name)")
    # Of ASCII only: Python and PostgreSQL know different versions of Unicode's lower case.
    users_email_is_lower_case = Check("email <> '' AND email !~ '[A-Z]'")
    users_token_version_is_not_negative = Check("token_version >= 0")


class Holding(Table, tablename="holdings", db=DB):
    """A number of shares bought at an average cost per share."""

    id = Varchar(length=24, primary_key=True, default=None)
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, index=True, default=None)
    ticker = Varchar(length=40, default=None)
    shares = Numeric(default=None)
    avg_cost = Numeric(default=None)
    bought_at = Date(default=None)
    currency = Varchar(length=3, default=None)
    created_at = Timestamptz()

    holdings_id_is_hexadecimal = Check("id ~ '^[0-9a-f]{24}$'")
    holdings_ticker_is_plain = Check("ticker ~ '^[A-Za-z0-9./-]+$'")
    # The upper bounds also exclude infinity and NaN, which PostgreSQL orders above every number.
    holdings_shares_are_in_bounds = Check("shares > 0 AND shares < 1e12 AND scale(shares) <= 8")
    holdings_cost_is_in_bounds = Check("avg_cost >= 0 AND avg_cost < 1e12 AND scale(avg_cost) <= 8")
    holdings_currency_is_a_code = Check("currency ~ '^[A-Z]{3}$'")


class Transaction(Table, tablename="transactions", db=DB):
    """An entry of a portfolio's ledger."""

    id = Varchar(length=24, primary_key=True, default=None)
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, index=True, default=None)
    type = Varchar(length=8, default=None)
    ticker = Varchar(length=40, default=None)
    date = Date(default=None)
    currency = Varchar(length=3, default=None)
    shares = Numeric(null=True, default=None)
    price = Numeric(null=True, default=None)
    fee = Numeric(null=True, default=None)
    amount = Numeric(null=True, default=None)
    old_shares = Numeric(null=True, default=None)
    new_shares = Numeric(null=True, default=None)
    created_at = Timestamptz()

    transactions_id_is_hexadecimal = Check("id ~ '^[0-9a-f]{24}$'")
    transactions_type_is_known = Check("type IN ('buy', 'sell', 'dividend', 'fee', 'split')")
    transactions_ticker_is_plain = Check("ticker ~ '^[A-Za-z0-9./-]+$'")
    transactions_currency_is_a_code = Check("currency ~ '^[A-Z]{3}$'")
    transactions_shares_are_in_bounds = Check("shares > 0 AND shares < 1e12 AND scale(shares) <= 8")
    transactions_price_is_in_bounds = Check("price >= 0 AND price < 1e12 AND scale(price) <= 8")
    transactions_fee_is_in_bounds = Check("fee >= 0 AND fee < 1e12 AND scale(fee) <= 8")
    transactions_amount_is_in_bounds = Check("amount > 0 AND amount < 1e12 AND scale(amount) <= 8")
    transactions_old_shares_are_in_bounds = Check(
        "old_shares > 0 AND old_shares < 1e12 AND scale(old_shares) <= 8"
    )
    transactions_new_shares_are_in_bounds = Check(
        "new_shares > 0 AND new_shares < 1e12 AND scale(new_shares) <= 8"
    )
    transactions_are_whole = Check(
        "CASE type WHEN 'split' THEN num_nulls(old_shares, new_shares) = 0"
        " WHEN 'dividend' THEN amount IS NOT NULL WHEN 'fee' THEN amount IS NOT NULL"
        " ELSE num_nulls(shares, price) = 0 END"
    )


class IdempotencyKey(Table, tablename="idempotency_keys", db=DB):
    """A request that created a resource, with its answer, which a repetition gets too."""

    id = BigSerial(primary_key=True)
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, default=None)
    key = Varchar(length=255, default=None)
    #: Digest of the request: a key is valid for one request only.
    fingerprint = Varchar(length=64, default=None)
    #: The answer's JSON, byte for byte.
    answer = Text(default=None)
    created_at = Timestamptz()

    idempotency_keys_belong_to_users = Unique([user_id, key])
    idempotency_keys_key_is_not_empty = Check("key <> ''")


class WatchlistEntry(Table, tablename="watchlist", db=DB):
    """A symbol in a user's watchlist; the list is ordered by id."""

    id = BigSerial(primary_key=True)
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, default=None)
    kind = Varchar(length=6, default=None)
    ticker = Varchar(length=40, default=None)
    added_at = Timestamptz()

    watchlist_names_a_symbol_once = Unique([user_id, kind, ticker])
    watchlist_kind_is_known = Check(f"kind IN ({_KINDS})")
    watchlist_ticker_is_plain = Check("ticker ~ '^[A-Za-z0-9./-]+$'")


class Layout(Table, tablename="layouts", db=DB):
    """A user's layout of the terminal: any JSON object, stored byte for byte."""

    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, primary_key=True, default=None)
    # Not JSONB, which reorders keys and refuses \\u0000.
    layout = JSON(default=None)
    version = Integer(default=None)
    updated_at = Timestamptz()

    layouts_are_objects = Check("json_typeof(layout) = 'object'")
    layouts_are_small = Check("octet_length(layout::text) <= 65536")
    layouts_version_is_positive = Check("version > 0")


class Session(Table, tablename="sessions", db=DB):
    """A login or registration whose token is still valid; without its row the token is void."""

    id = Varchar(length=24, primary_key=True, default=None)
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, default=None)
    #: The client's `User-Agent`, as far as it can be shown.
    device = Varchar(length=200, default=None)
    #: The network of the client's address.
    address = Varchar(length=50, default=None)
    created_at = Timestamptz(default=None)
    expires_at = Timestamptz(default=None)


class Watchlist(Table, tablename="watchlists", db=DB):
    """A named watchlist. A row with `is_default` holds the name of the first list only."""

    id = Varchar(length=24, primary_key=True, default=None)
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, default=None)
    name = Varchar(length=60, default=None)
    position = Integer(default=None)
    is_default = Boolean(default=False)
    created_at = Timestamptz()

    watchlists_id_is_hexadecimal = Check("id ~ '^[0-9a-f]{24}$'")
    watchlists_name_is_trimmed = Check("name <> '' AND name = btrim(name)")
    watchlists_position_is_not_negative = Check("position >= 0")
    watchlists_have_names_of_their_own = Unique([user_id, name])


class ListedSymbol(Table, tablename="listed_symbols", db=DB):
    """A symbol in a watchlist other than the first; the list is ordered by id."""

    id = BigSerial(primary_key=True)
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, index=True, default=None)
    list_id = ForeignKey(Watchlist, on_delete=OnDelete.cascade, null=False, default=None)
    kind = Varchar(length=6, default=None)
    ticker = Varchar(length=40, default=None)
    added_at = Timestamptz()

    listed_symbols_name_a_symbol_once = Unique([list_id, kind, ticker])
    listed_symbols_kind_is_known = Check(f"kind IN ({_KINDS})")
    listed_symbols_ticker_is_plain = Check("ticker ~ '^[A-Za-z0-9./-]+$'")


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


class ApiKey(Table, tablename="api_keys", db=DB):
    """An API key. The row stays when the key is revoked, as long as it has usage; it goes with its user."""

    id = Varchar(length=24, primary_key=True, default=None)
    #: Null for a key of the operator.
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=True, default=None)
    name = Varchar(length=100, default=None)
    #: Empty for the plan of users.
    plan = Varchar(length=40, default="")
    #: Digests of the secret, and of the one before the last rotation.
    secret_hash = Varchar(length=64, default=None, secret=True)
    previous_hash = Varchar(length=64, null=True, default=None, secret=True)
    previous_until = Timestamptz(null=True, default=None)
    #: The JSON of a `Scope`.
    scope = Text(default="{}")
    created_at = Timestamptz(default=None)
    expires_at = Timestamptz(null=True, default=None)
    revoked_at = Timestamptz(null=True, default=None)


class StoredPlan(Table, tablename="plans", db=DB):
    """A plan that the operator stored; a file of plans goes before it."""

    name = Varchar(length=40, primary_key=True, default=None)
    #: The JSON of a `Plan`.
    definition = Text(default=None)
    updated_at = Timestamptz(default=None)


class Operator(Table, tablename="operators", db=DB):
    """A user who may sign in to the operator's page."""

    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, primary_key=True, default=None)
    #: The sealed secret of TOTP; null for none.
    totp = Text(null=True, default=None, secret=True)
    #: The step of the newest code that signed in: each works once.
    totp_step = BigInt(default=0)
    added_at = Timestamptz(default=None)


class OperatorSession(Table, tablename="operator_sessions", db=DB):
    """A session of an operator; without its row the token is void."""

    id = Varchar(length=24, primary_key=True, default=None)
    #: Refers to an operator; Piccolo knows no foreign key to a primary key that is one itself.
    user_id = Varchar(length=24, default=None)
    #: That of the user at the login: a new password and `users revoke` end the session.
    token_version = Integer(default=None)
    #: The network of the client's address.
    address = Varchar(length=50, default=None)
    created_at = Timestamptz(default=None)
    seen_at = Timestamptz(default=None)
    expires_at = Timestamptz(default=None)
