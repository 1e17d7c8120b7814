"""The tables. What must hold of a row is declared here and checked by the database itself."""

from piccolo.columns import Boolean, Integer, Text, Timestamptz, Varchar
from piccolo.constraints import Check
from piccolo.table import Table


class User(Table, tablename="users"):
    """Someone who may log in."""

    # Without defaults: a row that lacks one of these is refused instead of filled with blanks.
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
