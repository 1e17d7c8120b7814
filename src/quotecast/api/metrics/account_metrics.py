"""Metrics of PostgreSQL and of logins in one API worker."""

from collections.abc import Iterator

from prometheus_client import Metric

from quotecast.api.accounts.logins import LoginWindow
from quotecast.database.database import Database
from quotecast.observe.metrics import counter, gauge, histogram


def families(database: Database, logins: LoginWindow) -> Iterator[Metric]:
    """Yields the metrics of connections, transactions and logins."""
    yield from _connections(database)
    yield from _transactions(database)
    yield counter(
        "logins",
        "Logins by outcome; `limited`: an account or an address had too many attempts; `unavailable`: the "
        "accounts were away or busy.",
        {(outcome,): count for outcome, count in logins.outcomes.items()},
        ["outcome"],
    )


def _connections(database: Database) -> Iterator[Metric]:
    counts = database.statistics()
    states = {("idle",): counts["idle"], ("used",): counts["connections"] - counts["idle"]}
    yield gauge("database_connections", "Connections to PostgreSQL.", states, ["state"])
    yield gauge("database_connections_limit", "Most connections at once.", counts["limit"])
    yield gauge(
        "database_transactions", "Transactions that run or wait for a connection.", counts["transactions"]
    )
    yield counter(
        "database_connects",
        "Connections that were opened, or failed to open.",
        {(outcome,): count for outcome, count in database.measurements.connects.items()},
        ["outcome"],
    )
    yield histogram(
        "database_wait_seconds",
        "Time that a transaction waited for a connection, a new one included.",
        {(): database.measurements.waits},
    )


def _transactions(database: Database) -> Iterator[Metric]:
    yield histogram(
        "database_transaction_duration_seconds",
        "Time of a transaction with its wait for a connection; `away`: no answer in time, or an outage.",
        {(outcome,): times for outcome, times in database.measurements.transactions.items()},
        ["outcome"],
    )
    yield histogram(
        "database_statement_duration_seconds",
        "Time from a statement to its rows or its error.",
        {(): database.measurements.statements},
    )
    yield counter(
        "database_errors",
        "Errors of PostgreSQL and of its connections, by kind.",
        {(kind,): count for kind, count in database.measurements.errors.items()},
        ["kind"],
    )
