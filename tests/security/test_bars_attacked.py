"""Queries for bars with any symbols, times, numbers and page tokens."""

from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quotecast.api.bars.queries import BarQuery, token_of
from quotecast.market.bars import INTERVALS
from quotecast.market.feeds import Feed
from support.made.market import doviz
from support.stages.bar_service import BarService, new_service

PATHS = (
    "/api/market/bars/AAPL?range=1M&",
    "/api/market/bars/AAPL?",
    "/api/crypto/bars/BTC-USDT?",
    "/api/doviz/bars/gram-altin?",
    "/api/market/bars?symbols=AAPL&",
    "/api/crypto/bars?symbols=BTC/USDT&",
    "/api/doviz/bars?symbols=gram-altin&",
)
LISTS = tuple(f"/api/{feed.spec.name}/{kind}?symbols=" for feed in Feed for kind in ("bars", "sparklines"))
times = st.one_of(
    st.integers(-(10**12), 10**12).map(str),
    st.datetimes().map(lambda moment: moment.isoformat()),
    st.text(max_size=30),
)
tokens = st.one_of(
    st.text(max_size=80),
    st.builds(
        lambda *fields: token_of(BarQuery(fields[0], fields[1], fields[2], 5, fields[3])),
        st.sampled_from(INTERVALS),
        st.one_of(st.none(), st.integers(-5, 10**10)),
        st.one_of(st.none(), st.integers(-5, 10**10)),
        st.sampled_from(["asc", "desc"]),
    ),
)
parameters = st.fixed_dictionaries(
    {},
    optional={
        "start": times,
        "end": times,
        "limit": st.one_of(st.integers(-5, 2000).map(str), st.text(max_size=8)),
        "order": st.sampled_from(["asc", "desc", "DESC", "", "random()"]),
        "page": tokens,
        "source": st.sampled_from(["own", "OWN", "", "alpaca"]),
        "interval": st.sampled_from([*INTERVALS, "1s"]),
        "timeframe": st.sampled_from([*INTERVALS, "1s"]),
    },
)
SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def service() -> BarService:
    service = new_service()
    service.quotes(Feed.DOVIZ, [doviz()])
    return service


@SETTINGS
@given(path=st.sampled_from(PATHS), given_parameters=parameters)
async def test_any_query_is_answered_or_refused(
    service: BarService, path: str, given_parameters: dict[str, str]
) -> None:
    """No query fails, makes many calls, or fills the cache; a refusal names the parameter."""
    before = len(service.history.calls)
    query = "&".join(f"{name}={quote(text, safe='')}" for name, text in given_parameters.items())
    answer = await service.get(path + query)
    assert answer.status_code in {200, 422}, answer.text
    if answer.status_code == 422:
        assert answer.json()["errors"][0]["field"] in {*given_parameters, "range", "limit", "start", "end"}
    assert len(service.history.calls) - before <= 4
    assert len(answer.headers.get("x-next-page", "")) <= 64


@SETTINGS
@given(path=st.sampled_from(LISTS), symbols=st.lists(st.text(max_size=20), max_size=60))
async def test_any_list_of_symbols_is_answered_or_refused(
    service: BarService, path: str, symbols: list[str]
) -> None:
    answer = await service.get(path + quote(",".join(symbols), safe=""))
    assert answer.status_code in {200, 422}, answer.text
    assert service.history.calls == []
