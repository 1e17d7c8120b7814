"""A client's symbol reaches the upstream as one path segment or query value, or not at all."""

import re
from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import quote, urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fakes.finnhub import FakeFinnhub
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from support.made.factories import client_of, full_mirrors, services
from support.servers.finnhub_local import PATHS, local_finnhub, provider
from support.stages.caching import Clock

MEMBERS: Final = (*(path.replace("_", "-") for path in PATHS), "overview")
ATTACKS: Final = (
    *("..", "../", "..%2f", "..%2F..%2fquote", "%2e%2e", "%2e%2e%2f", "%252e%252e%252f", "%252F", "..%5c"),
    *("AAPL%23", "AAPL#", "AAPL?token=x", "AAPL%3Ftoken=x", "AAPL&token=x", "AAPL%26token=x", "AAPL;x"),
    *("AAPL%0d%0aHost:%20evil", "AAPL%0a", "AAPL%00", "AAPL%20", "%20AAPL", "AAPL%2500", "@evil.example"),
    *("http://evil.example/", "http:%2f%2fevil.example", "//evil.example", "AAPL%E2%80%AE", "%ff", "%", "*"),
)
WRITTEN: Final = re.compile(r"symbol=[A-Z0-9][A-Z0-9.\-]{0,11}")
text = st.text(max_size=30) | st.text("AaZ09./\\%#?&=;:@\r\n\0 -_+", max_size=16)
BOUNDED: Final = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # the fake only appends to its requests
)


@pytest.fixture
async def fake() -> AsyncIterator[FakeFinnhub]:
    async with local_finnhub(Clock()) as fake:
        yield fake


async def ask(fake: FakeFinnhub, written: str) -> list[httpx.Response]:
    """Requests each route of a company, with the text as symbol."""
    async with client_of(services(full_mirrors(), financials=provider(fake))) as client:
        return [await client.get(f"/api/financials/company/{written}/{member}") for member in MEMBERS]


def is_within_its_template(target: str) -> bool:
    """Returns whether the path is one of the adapter's, with one symbol in the symbol's place."""
    parts_of_it = urlsplit(target)
    asked = (*PATHS.values(), "/quote", "/stock/profile2")
    paths = {f"/api/v1{path}" for path in asked} | {*asked}
    symbols = [each for each in parts_of_it.query.split("&") if each.startswith("symbol=")]
    return parts_of_it.path in paths and len(symbols) == 1 and WRITTEN.fullmatch(symbols[0]) is not None


@pytest.mark.parametrize("written", ATTACKS)
async def test_no_attack_reaches_the_upstream(fake: FakeFinnhub, written: str) -> None:
    """No attack reaches the upstream, except a symbol with blanks around it; no answer is 5xx."""
    for answer in await ask(fake, written):
        assert answer.status_code in {200, 404, 503}
    assert [each.target for each in fake.requests if not is_within_its_template(each.target)] == []


async def test_a_symbol_does_reach_it(fake: FakeFinnhub) -> None:
    """A valid symbol reaches the upstream: the test above does not pass by asking nothing."""
    await ask(fake, "aapl")
    assert len(fake.requests) >= len(PATHS)
    assert all(is_within_its_template(each.target) for each in fake.requests)


@BOUNDED
@given(text=text)
@example(text="AAPL\r\nX: 1")
@example(text="BRK.B")
def test_accepted_symbols_need_no_escape(text: str) -> None:
    """The canonical spelling of any accepted symbol needs no escape in a path or a query."""
    for feed in Feed:
        spelled = canonical_symbol(feed, text)
        if spelled is not None:
            assert quote(spelled, safe="/") == spelled
            assert not {"", ".", ".."} & set(spelled.split("/"))
