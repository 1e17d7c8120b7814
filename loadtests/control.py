"""The requests and answers of a simulated vendor's control route."""

import json
from datetime import datetime
from typing import Any


def body_of(scenario: str) -> dict[str, Any]:
    """Returns the control route's request for `NAME,KEY=VALUE`; a value that is JSON is sent as such."""
    name, *parameters = scenario.split(",")
    return {
        "name": name,
        **{key: value_of(value) for key, _, value in (each.partition("=") for each in parameters)},
    }


def value_of(text: str) -> Any:
    """Returns a number as a number, and other text as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def length_of(answer: dict[str, Any]) -> float | None:
    """Returns the seconds of a started scenario; None for one without an end."""
    if answer.get("end") is None:
        return None
    start, end = (datetime.fromisoformat(answer[name]) for name in ("start", "end"))
    return (end - start).total_seconds()
