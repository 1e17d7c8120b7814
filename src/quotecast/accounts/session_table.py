"""The table of sessions, apart from the tables that Piccolo's migrations declare."""

from piccolo.columns import ForeignKey, OnDelete, Timestamptz, Varchar
from piccolo.table import Table

from quotecast.accounts.engine import DB
from quotecast.accounts.tables import User


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
