"""The tables of the watchlists beside a user's first one, which is in `watchlist`."""

from typing import Final

from piccolo.columns import BigSerial, Boolean, ForeignKey, Integer, OnDelete, Timestamptz, Varchar
from piccolo.constraints import Check, Unique
from piccolo.table import Table

from quotecast.accounts.engine import DB
from quotecast.accounts.tables import User
from quotecast.market.feeds import Feed

_KINDS: Final = ", ".join(f"'{feed.spec.kind}'" for feed in Feed)


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
