"""Fingerprints of new holdings: equal for a request and its retries."""

from datetime import UTC, datetime

import msgspec
import pytest

from quotecast.api.market.names import Mirrors
from quotecast.api.routes.portfolio.portfolio import NewHolding, fingerprint, holding_from
from support.made.factories import NOW, empty_mirrors, full_mirrors

TODAY = datetime.fromtimestamp(NOW, UTC)


def asked(body: str, mirrors: Mirrors, now: datetime = TODAY) -> bytes:
    given = msgspec.json.decode(body, type=NewHolding)
    return fingerprint(given, holding_from(given, mirrors, "0" * 24, now))


GIVEN = '{"ticker":"gram-altin","shares":1,"avg_cost":0,"currency":"TRY"}'


def test_a_request_is_the_same_when_a_feed_comes_back() -> None:
    """The fingerprint does not depend on the feed's spelling of the ticker."""
    assert asked(GIVEN, empty_mirrors()) == asked(GIVEN, full_mirrors())


def test_a_request_is_the_same_on_the_day_after() -> None:
    """The fingerprint does not include the default day."""
    assert asked(GIVEN, full_mirrors()) == asked(GIVEN, full_mirrors(), TODAY.replace(day=21))


@pytest.mark.parametrize(
    "other",
    [
        '{ "currency":" try", "ticker":" GRAM-altin ", "shares":1.0, "avg_cost":0 }',
        '{"ticker":"gram-altin","shares":10e-1,"avg_cost":-0,"currency":"TRY","id":5,"bought_at":null}',
    ],
)
def test_spelling_makes_no_other_request(other: str) -> None:
    """Spelling and unknown fields do not change the fingerprint."""
    assert asked(GIVEN, full_mirrors()) == asked(other, full_mirrors())


@pytest.mark.parametrize(
    "other",
    [
        '{"ticker":"gumus","shares":1,"avg_cost":0,"currency":"TRY"}',
        '{"ticker":"gram-altin","shares":1.00000001,"avg_cost":0,"currency":"TRY"}',
        '{"ticker":"gram-altin","shares":1,"avg_cost":0.00000001,"currency":"TRY"}',
        '{"ticker":"gram-altin","shares":1,"avg_cost":0}',
        '{"ticker":"gram-altin","shares":1,"avg_cost":0,"currency":"TRY","bought_at":"2026-11-19"}',
    ],
)
def test_every_field_makes_another_request(other: str) -> None:
    """Every field changes the fingerprint, down to the last digit."""
    assert asked(GIVEN, full_mirrors()) != asked(other, full_mirrors())
