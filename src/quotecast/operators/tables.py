"""The tables of operators, apart from the tables that Piccolo's migrations declare."""

from piccolo.columns import BigInt, ForeignKey, Integer, OnDelete, Text, Timestamptz, Varchar
from piccolo.table import Table

from quotecast.accounts.engine import DB
from quotecast.accounts.tables import User


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
