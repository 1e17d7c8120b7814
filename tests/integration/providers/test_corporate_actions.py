"""Corporate actions from Alpaca, Finnhub and the simulated market, over the vendors' wire formats."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from fakes.alpaca import FakeAlpaca
from fakes.finnhub import VERSION
from fakes.http import Answer
from quotecast.errors import NotOffered, UpstreamError
from quotecast.market.actions import CorporateAction
from quotecast.market.renames import Rename
from quotecast.providers.alpaca.corporate_actions import PATH, AlpacaActions
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.finnhub.corporate_actions import FinnhubActions
from quotecast.providers.finnhub.rest import FinnhubRest
from quotecast.simulation.market.actions import SimulatorActions
from quotecast.simulation.market.scenarios.schedule import Planned, Schedule
from quotecast.simulation.market.scenarios.trading import Split
from support.made.alpaca_rest import local_rest
from support.servers.finnhub_local import local_finnhub
from support.stages.caching import Clock

FIRST, LAST = date(2026, 1, 1), date(2026, 12, 31)
_DAYS = {"record_date": "2026-06-01", "payable_date": "2026-06-15", "process_date": "2026-06-02"}


def alpaca(fake: FakeAlpaca) -> AlpacaActions:
    return AlpacaActions(AlpacaRest(fake.url, *fake.keys))


def answer(token: str | None = None, **rows: Any) -> Answer:
    return Answer.of({"corporate_actions": rows, "next_page_token": token})


async def test_alpaca_names_each_type_of_action() -> None:
    async with local_rest() as fake:
        fake.answers[PATH] = answer(
            forward_splits=[
                {"id": "1", "symbol": "AAPL", "ex_date": "2026-06-02", "new_rate": 4, "old_rate": 1, **_DAYS}
            ],
            reverse_splits=[
                {"id": "2", "symbol": "AAPL", "ex_date": "2026-07-01", "new_rate": 1, "old_rate": 10, **_DAYS}
            ],
            stock_dividends=[{"id": "3", "symbol": "AAPL", "ex_date": "2026-08-03", "rate": 0.14, **_DAYS}],
            cash_dividends=[
                {
                    "id": "4",
                    "symbol": "AAPL",
                    "ex_date": "2026-09-01",
                    "rate": "0.27",
                    "special": False,
                    **_DAYS,
                }
            ],
            name_changes=[
                {"id": "5", "old_symbol": "AAPL", "new_symbol": "APL", "process_date": "2026-10-01"}
            ],
            stock_mergers=[
                {
                    "id": "6",
                    "acquiree_symbol": "AAPL",
                    "acquiree_rate": 1,
                    "acquirer_symbol": "MSFT",
                    "acquirer_rate": 0.5,
                    "effective_date": "2026-11-02",
                    "process_date": "2026-11-03",
                }
            ],
            spin_offs=[{"source_symbol": "AAPL", "process_date": "2026-11-04"}],
        )
        found = await alpaca(fake).actions("AAPL", FIRST, LAST)
        asked = fake.requests[0].query
    shown = [(each.type, f"{each.ex_day}", each.old_shares, each.new_shares, each.amount) for each in found]
    assert shown == [
        ("split", "2026-06-02", 1.0, 4.0, None),
        ("split", "2026-07-01", 10.0, 1.0, None),
        ("stock_dividend", "2026-08-03", 1.0, 1.14, None),
        ("cash_dividend", "2026-09-01", None, None, 0.27),
        ("rename", "2026-10-01", None, None, None),
        ("merger", "2026-11-02", 1.0, 0.5, None),
    ]
    assert [each.new_symbol for each in found[-2:]] == ["APL", "MSFT"]
    assert (found[3].currency, found[3].payable_day) == ("USD", date(2026, 6, 15))
    assert (asked["symbols"], asked["start"], asked["end"]) == ("AAPL", "2026-01-01", "2026-12-31")


async def test_alpaca_s_bad_rows_spoil_no_others() -> None:
    """Rows without what their type needs, or of another stock, are left out; a body of nothing has none."""
    good = {"id": "1", "symbol": "AAPL", "ex_date": "2026-06-02", "rate": 0.2, **_DAYS}
    bad = [
        {**good, "rate": 0},
        {**good, "rate": None},
        {**good, "process_date": None},
        {**good, "symbol": "!"},
        7,
    ]
    async with local_rest() as fake:
        fake.answers[PATH] = answer(cash_dividends=[*bad, good, {**good, "symbol": "MSFT"}])
        upstream = alpaca(fake)
        assert [each.id for each in await upstream.actions("AAPL", FIRST, LAST)] == ["1"]
        assert upstream._refused.by_reason() == {"malformed": 2, "unreadable": 3}
        for body in (answer(), answer(cash_dividends=None), Answer.of({})):
            fake.answers[PATH] = body
            assert [*await upstream.actions("AAPL", FIRST, LAST)] == []


async def test_alpaca_tells_the_renames_of_all_stocks() -> None:
    """Ten years up to today in New York."""
    changes = [
        {"id": "1", "old_symbol": "FB", "new_symbol": "META", "process_date": "2022-06-09"},
        {"id": "2", "old_symbol": "!", "new_symbol": "BANG", "process_date": "2022-06-10"},
        {"id": "3", "old_symbol": "SQ", "new_symbol": "XYZ", "process_date": "2025-01-21"},
        {"id": "4", "old_symbol": "OLD", "process_date": "2025-01-22"},
    ]
    async with local_rest() as fake:
        fake.answers[PATH] = answer(name_changes=changes)
        # Friday evening in New York, Saturday in UTC.
        clock = datetime(2026, 11, 21, 2, tzinfo=UTC).timestamp
        upstream = AlpacaActions(AlpacaRest(fake.url, *fake.keys, clock=clock))
        found = await upstream.renames()
        asked = fake.requests[0].query
    assert found == [
        Rename(former="FB", symbol="META", day=date(2022, 6, 9)),
        Rename(former="SQ", symbol="XYZ", day=date(2025, 1, 21)),
    ]
    assert (asked["types"], asked["start"], asked["end"]) == ("name_change", "2016-11-19", "2026-11-20")
    assert "symbols" not in asked
    assert upstream._refused.by_reason() == {"unreadable": 2}


async def test_alpaca_s_pages_have_an_end() -> None:
    """Of the actions of a stock none may be missing; of all renames the newest are enough."""
    async with local_rest() as fake:
        fake.answers[PATH] = answer("more")
        with pytest.raises(UpstreamError, match="more than 10 pages"):
            await alpaca(fake).actions("AAPL", FIRST, LAST)
        with pytest.raises(UpstreamError, match="lists no renames"):
            await alpaca(fake).renames()
        change = {"id": "1", "old_symbol": "FB", "new_symbol": "META", "process_date": "2022-06-09"}
        fake.answers[PATH] = answer("more", name_changes=[change])
        assert len(await alpaca(fake).renames()) == 10
        assert fake.requests[-1].query["sort"] == "desc"
        assert [each.query.get("page_token") for each in fake.requests[:2]] == [None, "more"]


async def test_finnhub_has_splits_and_dividends_as_far_as_its_plan_does() -> None:
    clock = Clock()
    async with local_finnhub(clock) as fake:
        fake.companies["AAPL"] |= {
            "/stock/split": [{"symbol": "AAPL", "date": "2026-06-02", "fromFactor": 1, "toFactor": 4}],
            "/stock/dividend": [
                {
                    "symbol": "AAPL",
                    "date": "2026-09-01",
                    "amount": 0.27,
                    "payDate": "2026-09-15",
                    "recordDate": "",
                    "currency": "USD",
                },
                {"symbol": "AAPL", "date": "2026-09-02", "amount": None},
                {"symbol": "AAPL", "date": "2026-09-03", "amount": 15.0, "currency": "USD"},
                {"symbol": "AAPL", "date": "2026-09-03", "amount": 0.3, "currency": "USD"},
            ],
        }
        upstream = FinnhubActions(FinnhubRest(fake.base, fake.key, clock=fake.now))
        found = await upstream.actions("AAPL", FIRST, LAST)
        assert [(each.type, each.new_shares, each.amount) for each in found] == [
            ("split", 4.0, None),
            ("cash_dividend", None, 0.27),
            ("cash_dividend", None, 0.3),
            ("cash_dividend", None, 15.0),
        ]
        assert [each.id for each in found[2:]] == [
            "dividend AAPL 2026-09-03",
            "dividend AAPL 2026-09-03 2",
        ]
        assert (found[1].payable_day, found[1].record_day) == (date(2026, 9, 15), None)
        assert [*await upstream.actions("NONE", FIRST, LAST)] == []
        refusal = Answer.of({"error": "You don't have access to this resource."}, 403)
        fake.fail(refusal, "/stock/dividend")
        assert [each.type for each in await upstream.actions("AAPL", FIRST, LAST)] == ["split"]
        fake.fail(refusal, "/stock/split")
        with pytest.raises(NotOffered):
            await upstream.actions("AAPL", FIRST, LAST)
        assert {each.path for each in fake.requests} == {
            f"{VERSION}/stock/split",
            f"{VERSION}/stock/dividend",
        }


async def test_the_simulated_market_splits_by_scenarios_and_pays_dividends() -> None:
    """Four dividends a year of companies that pay; those that are not declared yet are unknown."""
    moment = 1_795_118_400_000
    plan = [
        Planned(Split(symbols=("KO",), ratio=ratio), moment + days * 86_400_000)
        for days, ratio in ((0, 0.1), (3, 1.05))
    ]
    schedule = Schedule(plan)
    upstream = SimulatorActions(1, schedule, lambda: moment / 1000)
    found = [*await upstream.actions("KO", FIRST, LAST)]
    assert found == sorted(found, key=lambda each: each.ex_day)
    (split,) = (each for each in found if each.type == "split")
    assert (split.old_shares, split.new_shares, split.ex_day) == (10.0, 1.0, date(2026, 11, 20))
    (stock,) = (each for each in found if each.type == "stock_dividend")
    assert (stock.old_shares, stock.new_shares, stock.ex_day) == (1.0, 1.05, date(2026, 11, 23))
    paid = [each for each in found if each.type == "cash_dividend"]
    assert len(paid) == 4
    assert all(each.amount and each.payable_day and each.payable_day > each.ex_day for each in paid)
    assert await upstream.actions("NONE", FIRST, LAST) == []
    early: list[CorporateAction] = [*await SimulatorActions(1).actions("KO", date(1900, 1, 1), FIRST)]
    assert early[0].ex_day.year >= 1995
