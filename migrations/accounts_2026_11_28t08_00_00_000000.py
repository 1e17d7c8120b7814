"""The ledger of transactions of a portfolio."""

from typing import Final

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from quotecast.database.migrations import execute

ID: Final = "2026-11-28T08:00:00:000000"
VERSION: Final = "1.38.0"
DESCRIPTION: Final = "The ledger of transactions of a portfolio"

_CREATE: Final = """
CREATE TABLE transactions (
    id varchar(24) PRIMARY KEY CONSTRAINT transactions_id_is_hexadecimal CHECK (id ~ '^[0-9a-f]{24}$'),
    user_id varchar(24) NOT NULL REFERENCES users ON DELETE CASCADE,
    type varchar(8) NOT NULL CONSTRAINT transactions_type_is_known
        CHECK (type IN ('buy', 'sell', 'dividend', 'fee', 'split')),
    ticker varchar(40) NOT NULL CONSTRAINT transactions_ticker_is_plain CHECK (ticker ~ '^[A-Za-z0-9./-]+$'),
    date date NOT NULL,
    currency varchar(3) NOT NULL CONSTRAINT transactions_currency_is_a_code CHECK (currency ~ '^[A-Z]{3}$'),
    shares numeric CONSTRAINT transactions_shares_are_in_bounds
        CHECK (shares > 0 AND shares < 1e12 AND scale(shares) <= 8),
    price numeric CONSTRAINT transactions_price_is_in_bounds
        CHECK (price >= 0 AND price < 1e12 AND scale(price) <= 8),
    fee numeric CONSTRAINT transactions_fee_is_in_bounds CHECK (fee >= 0 AND fee < 1e12 AND scale(fee) <= 8),
    amount numeric CONSTRAINT transactions_amount_is_in_bounds
        CHECK (amount > 0 AND amount < 1e12 AND scale(amount) <= 8),
    old_shares numeric CONSTRAINT transactions_old_shares_are_in_bounds
        CHECK (old_shares > 0 AND old_shares < 1e12 AND scale(old_shares) <= 8),
    new_shares numeric CONSTRAINT transactions_new_shares_are_in_bounds
        CHECK (new_shares > 0 AND new_shares < 1e12 AND scale(new_shares) <= 8),
    created_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT transactions_are_whole CHECK (
        CASE type
            WHEN 'split' THEN num_nulls(old_shares, new_shares) = 0
            WHEN 'dividend' THEN amount IS NOT NULL
            WHEN 'fee' THEN amount IS NOT NULL
            ELSE num_nulls(shares, price) = 0
        END
    )
);
CREATE INDEX transactions_user_id ON transactions (user_id);
"""


async def create() -> None:
    """Creates the table."""
    await execute(_CREATE)


async def drop() -> None:
    """Drops it."""
    await execute("DROP TABLE transactions")


async def forwards() -> MigrationManager:
    """The table; backwards drops it."""
    manager = MigrationManager(migration_id=ID, app_name="accounts", description=DESCRIPTION)
    manager.add_raw(create)
    manager.add_raw_backwards(drop)
    return manager
