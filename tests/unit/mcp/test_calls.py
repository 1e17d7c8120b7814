"""Calls of MCP tools end in time, count by outcome, and repeat the service's own errors."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from quotecast.mcp import asking
from quotecast.mcp.asking import Asking, ToolRefused
from quotecast.mcp.calls import ToolCalls


def asking_of(handler: Callable[[httpx.Request], Any]) -> Asking:
    """Returns the reads of a service that answers as `handler` does."""
    return Asking(httpx.AsyncClient(transport=httpx.MockTransport(handler), base_url="http://quotecast"))


def problem(status: int, **body: Any) -> Callable[[httpx.Request], httpx.Response]:
    headers = body.pop("headers", {})
    return lambda _: httpx.Response(status, json=body, headers=headers)


async def test_a_result_counts_as_ok() -> None:
    calls = ToolCalls()
    result = await calls.run("movers", {}, asking_of(problem(200, gainers=[{"ticker": "A"}], losers=[])))
    assert result.rows == [{"ranking": "gainer", "ticker": "A"}]  # type: ignore[union-attr]  # a table
    assert calls.counts == {("movers", "ok"): 1}


async def test_the_service_refuses_in_its_own_words() -> None:
    """With its code, the wrong fields, the wait, and the id under which the log has the request."""
    answer = problem(
        422,
        detail="Invalid limit",
        code="invalid",
        request_id="ab12",
        errors=[{"field": "limit", "message": "Must be a whole number from 1 to 1000"}],
        headers={"retry-after": "7"},
    )
    calls = ToolCalls()
    with pytest.raises(ToolRefused) as refused:
        await calls.run("news", {}, asking_of(answer))
    assert str(refused.value) == (
        "Invalid limit; limit: Must be a whole number from 1 to 1000; try again in 7 s "
        "(HTTP 422, invalid, request ab12)"
    )
    assert calls.counts == {("news", "refused"): 1}


async def test_a_failing_service_is_no_refusal() -> None:
    calls = ToolCalls()
    with pytest.raises(ToolRefused, match=r"unreadable answer \(HTTP 502\)"):
        await calls.run("news", {}, asking_of(lambda _: httpx.Response(502, text="<html>")))
    assert calls.counts == {("news", "failed"): 1}


async def test_a_resource_is_counted_and_bounded_like_a_tool() -> None:
    calls = ToolCalls()
    assert await calls.read("quotecast://feeds", asking_of(problem(200, feeds={})))
    for uri in ("quotecast://nothing", "quotecast://quotes/bonds/X", "quotecast://quotes/stocks/\ud800"):
        with pytest.raises(ToolRefused):
            await calls.read(uri, asking_of(problem(200)))
    assert calls.counts == {("resource", "ok"): 1, ("resource", "refused"): 3}


async def test_wrong_arguments_and_unknown_tools_do_not_reach_the_service() -> None:
    """A client's text never becomes a label of the metric."""

    def fail(_: httpx.Request) -> httpx.Response:
        pytest.fail("the call reached the service")

    calls = ToolCalls()
    for name in ("quotes", "drop table"):
        with pytest.raises(ToolRefused):
            await calls.run(name, {}, asking_of(fail))
    assert calls.counts == {("quotes", "invalid"): 1, ("other", "invalid"): 1}


async def test_a_call_ends_after_its_time() -> None:
    async def hang(_: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    calls = ToolCalls(seconds=0.01)
    with pytest.raises(ToolRefused, match=r"took longer than 0.01 s"):
        await calls.run("news", {}, asking_of(hang))
    assert calls.counts == {("news", "failed"): 1}


async def test_an_unexpected_answer_is_no_crash() -> None:
    """The text has no internal data; the log has the trace."""
    calls = ToolCalls()
    with pytest.raises(ToolRefused) as refused:
        await calls.run("movers", {}, asking_of(problem(200)))
    assert str(refused.value) == "Internal Server Error"
    assert calls.counts == {("movers", "failed"): 1}


async def test_a_read_outlives_the_death_of_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection breaks; the next try reaches another worker."""
    tries = 0

    def answer(_: httpx.Request) -> httpx.Response:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise httpx.ReadError("reset")
        return httpx.Response(200, json={"status": "running"})

    monkeypatch.setattr(asking, "_PAUSES", (0.0, 0.0))
    assert (await asking_of(answer).read("/api/market/status")).data == {"status": "running"}


async def test_an_absent_service_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    monkeypatch.setattr(asking, "_PAUSES", (0.0, 0.0))
    with pytest.raises(ToolRefused, match="The service does not answer at http://quotecast"):
        await asking_of(refuse).read("/api/market/status")
