"""Errors have one shape, the right status and no internal data."""

from typing import Any

import httpx
import pytest
from litestar import get, post
from litestar.exceptions import InternalServerException, PermissionDeniedException
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec import Struct

from quotecast.errors import BusError, InvalidValue, ProviderMissing, SymbolNotFound, UpstreamError
from support.made.factories import client_of, full_mirrors, services

SECRET = "postgres://user:secret@host/table"  # the kind of text that must not be answered

RAISED: dict[str, Exception] = {
    "symbol": SymbolNotFound(),
    "provider": ProviderMissing("news"),
    "value": InvalidValue("range", "One of 1D, 5D"),
    "upstream": UpstreamError(SECRET),
    "patient-upstream": UpstreamError(SECRET, retry_after=29.2),
    "bus": BusError(SECRET),
    "bug": RuntimeError(SECRET),
    "framework": InternalServerException(SECRET),
    "forbidden": PermissionDeniedException(SECRET),
}


class Holding(Struct):
    ticker: str
    shares: float


@get("/api/health/raise/{name:str}", sync_to_thread=False, opt={"feed": None})
def failing(name: FromPath[str]) -> None:
    raise RAISED[name]


@get("/api/health/typed", sync_to_thread=False, opt={"feed": None})
def typed(limit: FromQuery[int]) -> int:
    return limit


@post("/api/health/holdings", sync_to_thread=False, opt={"feed": None})
def add(data: JSONBody[Holding]) -> Holding:
    return data


async def answer_to(method: str, path: str, **request: Any) -> httpx.Response:
    async with client_of(services(full_mirrors()), extra_handlers=[failing, typed, add]) as client:
        answer = await client.request(method, path, **request)
    assert answer.headers["content-type"] == "application/json"
    assert isinstance(answer.json()["detail"], str)
    assert answer.json()["request_id"] == answer.headers["x-request-id"]
    assert "secret" not in answer.text
    return answer


@pytest.mark.parametrize(
    ("name", "status", "detail", "code", "retry_after"),
    [
        ("symbol", 404, "Symbol not found", "symbol_not_found", None),
        ("provider", 503, "No provider configured for news", "no_provider", None),
        ("value", 422, "Invalid range", "invalid", None),
        ("upstream", 503, "Upstream unavailable", "upstream", "5"),
        ("patient-upstream", 503, "Upstream unavailable", "upstream", "30"),
        ("bus", 500, "Internal Server Error", "internal_server_error", None),
        ("bug", 500, "Internal Server Error", "internal_server_error", None),
        ("framework", 500, "Internal Server Error", "internal_server_error", None),
        ("forbidden", 403, "Forbidden", "forbidden", None),
    ],
)
async def test_every_exception_has_its_answer(
    name: str, status: int, detail: str, code: str, retry_after: str | None
) -> None:
    """The answer repeats an exception's text only where it is written for clients."""
    answer = await answer_to("GET", f"/api/health/raise/{name}")
    assert answer.status_code == status
    assert answer.json()["detail"] == detail
    assert answer.json()["code"] == code
    assert answer.headers.get("retry-after") == retry_after


@pytest.mark.parametrize(
    "content",
    [b"{", b'{"ticker": NaN}', b"\xff", b"[" * 20_000 + b"]" * 20_000],
    ids=["cut off", "NaN", "no UTF-8", "deep"],
)
async def test_a_body_that_is_no_json_is_400(content: bytes) -> None:
    """Every kind of broken JSON gets the same answer."""
    answer = await answer_to("POST", "/api/health/holdings", content=content)
    assert answer.status_code == 400
    assert answer.json()["detail"] == "Malformed JSON"


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (("POST", "/api/health/holdings", {"ticker": "AAPL", "shares": "many"}), "shares"),
        (("GET", "/api/health/typed?limit=ten", None), "limit"),
        (("GET", "/api/health/typed", None), "limit"),
    ],
    ids=["body", "query", "missing"],
)
async def test_an_invalid_value_is_422_and_named(request_: tuple[str, str, Any], field: str) -> None:
    """The answer names each wrong field and its problem."""
    method, path, body = request_
    answer = await answer_to(method, path, json=body)
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid"
    assert [each["field"] for each in answer.json()["errors"]] == [field]
    assert all(each["message"] for each in answer.json()["errors"])


async def test_a_body_over_80_kilobytes_is_refused() -> None:
    answer = await answer_to("POST", "/api/health/holdings", content=b" " * (80 * 1024 + 1))
    assert answer.status_code == 413
    assert answer.json()["detail"] == "Payload Too Large"


async def test_the_body_names_only_what_there_is_to_say() -> None:
    """An error without fields has no list of fields."""
    answer = await answer_to("GET", "/api/health/raise/symbol")
    assert set(answer.json()) == {"detail", "code", "request_id"}
