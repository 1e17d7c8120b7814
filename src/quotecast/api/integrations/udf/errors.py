"""Errors of the UDF routes: the service's own, with the two fields that charts read."""

from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec
from litestar import Response
from litestar.openapi import ResponseSpec
from litestar.types import ExceptionHandlersMap

from quotecast.api.market.services import HttpRequest
from quotecast.api.middleware.problems import exception_handlers
from quotecast.api.reference.openapi import ID, answered, described
from quotecast.errors import FieldProblem, Problem
from quotecast.market.codec import encode_json


class ChartProblem(Problem, frozen=True, kw_only=True):
    """An error: charts read `s` and `errmsg` and ignore the HTTP status."""

    s: Literal["error"]
    errmsg: str


def chart_exception_handlers() -> ExceptionHandlersMap:
    """Returns the application's handlers, with the fields that charts read."""
    return {kind: _for_charts(handler) for kind, handler in exception_handlers().items()}


def _for_charts(handler: Callable[[HttpRequest, Any], Response[bytes]]) -> Any:
    def answer(request: HttpRequest, error: Exception) -> Response[bytes]:
        response = handler(request, error)
        problem = msgspec.json.decode(response.content, type=Problem)
        response.content = encode_json(_chart_problem(problem))
        return response

    return answer


def _chart_problem(problem: Problem) -> ChartProblem:
    fields = [] if problem.errors is msgspec.UNSET else problem.errors
    message = "; ".join([problem.detail, *(f"{each.field}: {each.message}" for each in fields)])
    return ChartProblem(
        problem.detail, problem.code, problem.request_id, problem.errors, s="error", errmsg=message
    )


def _refused(description: str, problem: Problem) -> ResponseSpec:
    return described(ChartProblem, _chart_problem(problem), description)


_INVALID: Final = [FieldProblem("resolution", "Must be one of 1, 5, 15, 1D, 1W, 1M")]
_ERRORS: Final = {
    404: _refused("No feed has the symbol", Problem("Symbol not found", "symbol_not_found", ID)),
    422: _refused("A value is out of bounds", Problem("Invalid resolution", "invalid", ID, _INVALID)),
    503: _refused(
        "The feed has no data yet, no provider, or its upstream failed",
        Problem("No data yet for stocks", "no_data", ID),
    ),
}


def answered_to_charts(
    kind: Any, example: Any, description: str, *errors: int, media_type: str = "application/json"
) -> dict[int, ResponseSpec]:
    """Returns the responses of a route of charts: 200, 304, 429 and the given errors."""
    responses = answered(kind, example, description, 429)
    responses[200].media_type = media_type
    return responses | {status: _ERRORS[status] for status in errors}
