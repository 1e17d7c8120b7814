"""Requests as TradingView's UDF-compatible datafeed sends them, and its demands on the answers."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from support.stages.bar_service import BarService

COLUMNS = ("o", "h", "l", "c")


def url(path: str, parameters: Mapping[str, object]) -> str:
    """Returns an address as `encodeURIComponent` writes it."""
    pairs = [f"{name}={quote(str(value), safe='')}" for name, value in parameters.items()]
    return f"/api/udf/{path}" + (f"?{'&'.join(pairs)}" if pairs else "")


async def ask(service: BarService, path: str, **parameters: object) -> Any:
    """Returns a successful answer; `start` stands for the protocol's `from`."""
    named = {"from" if name == "start" else name: value for name, value in parameters.items()}
    answer = await service.get(url(path, named))
    assert answer.status_code == 200, answer.text
    return answer.json()


def judge(answer: dict[str, Any]) -> list[int]:
    """Returns the times of a history that the protocol allows."""
    assert answer["s"] in {"ok", "no_data"}
    if answer["s"] == "no_data":
        assert set(answer) <= {"s", "nextTime"}
        return []
    times: list[int] = answer["t"]
    assert times
    assert times == sorted(set(times)), "ascending, each once"
    assert set(answer) - {"s", "t", "v"} == set(COLUMNS)
    assert {len(answer[name]) for name in set(answer) - {"s"}} == {len(times)}
    for low, high, *others in zip(*(answer[name] for name in ("l", "h", "o", "c")), strict=True):
        assert all(low <= price <= high for price in others)
    return times


def pulse(now: int, resolution: str) -> dict[str, object]:
    """Returns the span of the datafeed's periodic request, computed with its floating-point steps."""
    days = {"1D": 10, "1W": 70, "1M": 310}.get(resolution) or 10 * int(resolution) / (24 * 60)
    return {"start": now - days * 24 * 60 * 60, "to": now, "countback": 2}
