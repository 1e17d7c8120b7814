"""All queries on users' rows are in one module, which adds the user's id."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import quotecast

OWNED = {
    *("Alert", "AlertDelivery", "AlertEvent", "Holding", "IdempotencyKey", "Layout", "ListedSymbol"),
    *("PushSubscription", "Watchlist", "WatchlistEntry", "Webhook"),
}
QUERIES = {"alter", "count", "delete", "exists", "insert", "objects", "raw", "select", "update"}
SOURCE = Path(quotecast.__file__).parent
#: Where queries on them are made, and where the tables are declared.
MAY = {"users/account.py", "database/tables.py"}


def queries(source: str) -> Iterator[str]:
    """Returns the queries on owned tables, under any name of the table."""
    tree = ast.parse(source)
    names = {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in QUERIES:
            owner = (
                node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
            )
            if names.get(owner, owner) in OWNED:
                yield f"{owner}.{node.attr}"


def test_only_an_account_asks_for_what_is_owned() -> None:
    """No other module can forget the user's id."""
    found = {
        path.relative_to(SOURCE).as_posix(): list(queries(path.read_text("utf-8")))
        for path in SOURCE.rglob("*.py")
    }
    assert {name: what for name, what in found.items() if what and name not in MAY} == {}


@pytest.mark.parametrize(
    "source",
    [
        "Holding.select().where(Holding.id == 1)",
        "tables.Layout.update({})",
        "quotecast.database.tables.WatchlistEntry.delete(force=True)",
        "from quotecast.database.tables import IdempotencyKey as Key\nawait_(Key.exists())",
        "make = Holding.insert",
        "Holding.raw('SELECT 1')",
    ],
)
def test_such_a_query_would_be_found(source: str) -> None:
    """This proves that the check above finds such queries."""
    assert len(list(queries(source))) == 1


@pytest.mark.parametrize(
    "source", ["account.select(Holding, Holding.id == 1)", "account.delete(Layout)", "User.select()"]
)
def test_what_is_asked_of_an_account_is_not_meant(source: str) -> None:
    """A query through an Account passes the check: the account adds the user's id."""
    assert list(queries(source)) == []
