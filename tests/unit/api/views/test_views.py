"""Views of the market that clients share."""

from types import SimpleNamespace
from typing import Any

from quotecast.access.grant import Grant
from quotecast.access.keys import Scope
from quotecast.access.plans import Plan
from quotecast.api.views.views import Views
from support.made.factories import full_mirrors, services


def grant_for(*symbols: str, plan: Plan = Plan()) -> Grant:  # noqa: B008 - frozen
    key: Any = SimpleNamespace(scope=Scope(symbols=symbols))
    return Grant("user", plan, key, "key:1")


def test_keys_for_some_symbols_share_all_but_lists() -> None:
    """Their quotes come from the answers of everybody; a list has a view for each choice of symbols."""
    views = Views(services(full_mirrors()))
    assert views.of(views.key_of(grant_for("AAPL"))) is None
    narrow = views.of(views.key_of(grant_for("AAPL"), for_list=True))
    other = views.of(views.key_of(grant_for("MSFT"), for_list=True))
    assert narrow is not None
    assert other is not None
    assert (narrow.only, other.only) == (("AAPL",), ("MSFT",))
    assert narrow.view != other.view
    assert narrow.searches is other.searches is views.whole.searches


def test_a_list_of_a_bounded_plan_has_its_feeds_alone() -> None:
    views = Views(services(full_mirrors()))
    grant = grant_for("AAPL", plan=Plan(feeds=("crypto",)))
    bounded, narrow = views.of(views.key_of(grant)), views.of(views.key_of(grant, for_list=True))
    assert bounded is not None
    assert narrow is not None
    assert narrow.mirrors is bounded.mirrors
