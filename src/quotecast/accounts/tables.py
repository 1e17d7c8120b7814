"""The tables, with their constraints, which the database checks."""

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
