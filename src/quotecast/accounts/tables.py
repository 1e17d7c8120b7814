"""The tables. What must hold of a row is declared here and checked by the database itself."""

from typing import Final

from piccolo.columns import (
    JSON,
    BigSerial,
    Boolean,
    Date,
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

from quotecast.accounts.engine import DB
from quotecast.market.feeds import Feed

_KINDS: Final = ", ".join(f"'{feed.spec.kind}'" for feed in Feed)

# Columns without defaults refuse a row that lacks them, instead of filling it with blanks.


class User(Table, tablename="users", db=DB):
    """Someone who may log in."""

    id = Varchar(length=24, primary_key=True, default=None)
    name = Varchar(length=100, default=None)
    email = Varchar(length=254, unique=True, default=None)
    password_hash = Text(default=None, secret=True)
    #: Raised to make all tokens of this user invalid.
    token_version = Integer(default=0)
    disabled = Boolean(default=False)
    created_at = Timestamptz()

    users_id_is_hexadecimal = Check("id ~ '^[0-9a-f]{24}$'")
    users_name_is_trimmed = Check("name <> '' AND name = btrim(name)")
    # Of ASCII only: Python and PostgreSQL know different versions of Unicode's lower case.
    users_email_is_lower_case = Check("email <> '' AND email !~ '[A-Z]'")
    users_token_version_is_not_negative = Check("token_version >= 0")


class Holding(Table, tablename="holdings", db=DB):
    """So many shares of something, bought at that average cost per share."""

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
    # Neither infinite nor not a number: both are greater than any number.
    holdings_shares_are_in_bounds = Check("shares > 0 AND shares < 1e12 AND scale(shares) <= 8")
    holdings_cost_is_in_bounds = Check("avg_cost >= 0 AND avg_cost < 1e12 AND scale(avg_cost) <= 8")
    holdings_currency_is_a_code = Check("currency ~ '^[A-Z]{3}$'")


class IdempotencyKey(Table, tablename="idempotency_keys", db=DB):
    """A request that made something, so that a repetition of it is told the same."""

    id = BigSerial(primary_key=True)
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, default=None)
    key = Varchar(length=255, default=None)
    #: Digest of the request: the same key may not stand for another one.
    fingerprint = Varchar(length=64, default=None)
    #: What was answered, JSON as it was sent.
    answer = Text(default=None)
    created_at = Timestamptz()

    idempotency_keys_belong_to_users = Unique([user_id, key])
    idempotency_keys_key_is_not_empty = Check("key <> ''")


class WatchlistEntry(Table, tablename="watchlist", db=DB):
    """Something a user keeps an eye on; the order of the ids is that of the list."""

    id = BigSerial(primary_key=True)
    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, default=None)
    kind = Varchar(length=6, default=None)
    ticker = Varchar(length=40, default=None)
    added_at = Timestamptz()

    watchlist_names_a_symbol_once = Unique([user_id, kind, ticker])
    watchlist_kind_is_known = Check(f"kind IN ({_KINDS})")
    watchlist_ticker_is_plain = Check("ticker ~ '^[A-Za-z0-9./-]+$'")


class Layout(Table, tablename="layouts", db=DB):
    """How a user arranged the terminal: any JSON object, kept letter by letter."""

    user_id = ForeignKey(User, on_delete=OnDelete.cascade, null=False, primary_key=True, default=None)
    # Not JSONB: that orders keys anew, and refuses \\u0000.
    layout = JSON(default=None)
    version = Integer(default=None)
    updated_at = Timestamptz()

    layouts_are_objects = Check("json_typeof(layout) = 'object'")
    layouts_are_small = Check("octet_length(layout::text) <= 65536")
    layouts_version_is_positive = Check("version > 0")
