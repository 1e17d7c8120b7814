"""PgBouncer restarts, and PostgreSQL behind it, with the whole service under load."""

from collections.abc import Iterator

import pytest

from support.runs.figures import Figures
from support.servers.whole_service import Whole, whole_service
from support.stages.account_outage import judge_outage

pytestmark = pytest.mark.deploy


@pytest.fixture(scope="module")
def pooled() -> Iterator[Whole]:
    """Yields one service for all tests: each leaves it healthy."""
    with whole_service(pooled=True) as running:
        yield running


@pytest.mark.parametrize("seconds", [0.5, 5.0])
def test_pgbouncer_restarts(pooled: Whole, figures: Figures, seconds: float) -> None:
    """Markets go on; accounts are away until PgBouncer is back, and no acknowledged write is lost."""
    assert pooled.pgbouncer
    judge_outage(pooled, figures, pooled.pgbouncer.kill, pooled.pgbouncer.start, seconds)


@pytest.mark.parametrize("how", ["killed", "frozen"])
def test_postgres_is_away_behind_pgbouncer(pooled: Whole, figures: Figures, how: str) -> None:
    """After an outage of PostgreSQL, PgBouncer reconnects soon enough for the same promise."""
    if how == "killed":
        judge_outage(pooled, figures, pooled.postgres.kill, pooled.postgres.start, 5.0)
    else:
        judge_outage(pooled, figures, pooled.postgres.freeze, pooled.postgres.thaw, 5.0)
