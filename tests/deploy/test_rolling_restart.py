"""Workers are replaced behind the balancer, and clients notice no more than a moment."""

import pytest

from deploy.rollout import restart
from support.servers import Valkey

#: What coming back may take beyond the told delay on a machine that is busy with other tests.
SLACK_SECONDS = 5.0


@pytest.mark.deploy
def test_a_rolling_restart_loses_no_request_and_no_feed(own_valkey: Valkey) -> None:
    """Every request is answered, and every feed client resumes after the delay that it was told."""
    figures = restart(own_valkey, feeds=30, browsers=2)
    assert figures.lost == []
    assert figures.latencies
    assert len(figures.beyond_told) >= figures.feeds
    assert (figures.untold, figures.not_resumed) == (0, 0)
    assert max(figures.beyond_told) < SLACK_SECONDS
