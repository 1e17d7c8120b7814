"""What tells a request for a holding from its repetition."""

from datetime import UTC, datetime

import msgspec
import pytest

from quotecast.api.routes.lookup import Mirrors
from quotecast.api.routes.new_holding import NewHolding, fingerprint, holding_from
from support.factories import NOW, empty_mirrors, full_mirrors

TODAY = datetime.fromtimestamp(NOW, UTC)


def asked(body: str, mirrors: Mirrors, now: datetime = TODAY) -> bytes:
    given = msgspec.json.decode(body, type=NewHolding)
    return fingerprint(given, holding_from(given, mirrors, "0" * 24, now))


GIVEN = '{"ticker":"gram-altin","shares":1,"avg_cost":0,"currency":"TRY"}'


def test_a_request_is_the_same_when_a_feed_comes_back() -> None:
    """Only then it is known how the feed spells the ticker."""
    assert asked(GIVEN, empty_mirrors()) == asked(GIVEN, full_mirrors())


def test_a_request_is_the_same_on_the_day_after() -> None:
    """Though what is bought today is not bought tomorrow."""
    assert asked(GIVEN, full_mirrors()) == asked(GIVEN, full_mirrors(), TODAY.replace(day=21))


@pytest.mark.parametrize(
    "other",
    [
        '{ "currency":" try", "ticker":" GRAM-altin ", "shares":1.0, "avg_cost":0 }',
        '{"ticker":"gram-altin","shares":10e-1,"avg_cost":-0,"currency":"TRY","id":5,"bought_at":null}',
    ],
)
def test_spelling_makes_no_other_request(other: str) -> None:
    """Nor do fields that mean nothing here."""
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
    """By the last digit of it."""
    assert asked(GIVEN, full_mirrors()) != asked(other, full_mirrors())
