"""The tables of API keys and plans, apart from the tables that Piccolo's migrations declare."""

from piccolo.columns import ForeignKey, OnDelete, Text, Timestamptz, Varchar
from piccolo.table import Table

from quotecast.accounts.engine import DB
from quotecast.accounts.tables import User


class ApiKey(Table, tablename="api_keys", db=DB):
    """An API key. The row stays when the key is revoked; it goes with its user."""

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
