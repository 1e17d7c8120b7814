"""A rolling restart behind haproxy interrupts clients for a moment only."""

import pytest

from deploy.rollout import restart
from support.runs.deadlines import scaled
from support.servers.processes import Valkey

#: Most seconds of a reconnection beyond the announced delay.
SLACK_SECONDS = 5.0


@pytest.mark.deploy
def test_a_rolling_restart_loses_no_request_and_no_feed(own_valkey: Valkey) -> None:
    """Every request gets an answer, and every feed client resumes after the announced delay."""
    figures = restart(own_valkey, feeds=30, browsers=2)
    assert figures.lost == []
    assert figures.latencies
    assert len(figures.beyond_told) >= figures.feeds
    assert (figures.closed_without_notice, figures.not_resumed) == (0, 0)
    assert max(figures.beyond_told) < scaled(SLACK_SECONDS)
