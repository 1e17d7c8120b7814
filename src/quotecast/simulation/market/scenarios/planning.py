"""Plans of scenarios as texts (`NAME[@START][,key=value...]`) and TOML files."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final

from msgspec.structs import fields

from quotecast.simulation.market.quoters import iso
from quotecast.simulation.market.scenarios.base import Scenario
from quotecast.simulation.market.scenarios.catalogue import ScenarioError, scenario_of
from quotecast.simulation.market.scenarios.schedule import Planned

MAX_FILE_BYTES: Final = 64 * 1024
#: Scenarios of one session, past ones included.
MAX_PLANNED: Final = 200
MAX_TEXT: Final = 4096
_MAX_SECONDS: Final = 366 * 86_400
#: The calendar of the exchange knows these years.
_EARLIEST: Final = int(datetime(1990, 1, 1, tzinfo=UTC).timestamp() * 1000)
_LATEST: Final = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp() * 1000)
_SECONDS: Final = re.compile(r"\+([0-9]{1,8}(?:\.[0-9]{1,3})?)")
_CLOCK: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")


def plan_of(texts: Iterable[str], now: int | None) -> list[Planned]:
    """Returns the scenarios of texts, each with one scenario or the name of a TOML file; `;` joins several.

    `now`, in Unix milliseconds, is the session's start; without it, starts are ISO times.
    Raises ScenarioError.
    """
    plan: list[Planned] = []
    for text in (part.strip() for joined in texts for part in joined.split(";")):
        plan += _file(text, now) if text.endswith(".toml") else [planned_of(text, now)]
        if len(plan) > MAX_PLANNED:
            raise ScenarioError(f"there may be at most {MAX_PLANNED} scenarios in one session")
    return plan


def planned_of(text: str, now: int | None) -> Planned:
    """Returns the scenario of one text, such as `bad-tick@14:30,every=50,symbols=AAPL+MSFT`."""
    if len(text) > MAX_TEXT:
        raise ScenarioError(f"{text[:20]}...: must have at most {MAX_TEXT} characters")
    head, *pairs = text.split(",")
    name, _, at = head.partition("@")
    given: dict[str, Any] = {}
    for each in pairs:
        key, equals, value = (part.strip() for part in each.partition("="))
        if not equals or not key:
            raise ScenarioError(f"{name}: {each[:40]!r} is not key=value")
        given[key] = [symbol for symbol in value.split("+") if symbol] if key == "symbols" else value
    return made_of(name.strip(), at.strip(), given, now)


def made_of(name: str, at: object, parameters: Mapping[str, Any], now: int | None) -> Planned:
    """Returns a scenario at its start; `at` is a text, a number of seconds from `now`, or a time of TOML."""
    try:
        start = start_of(at, now)
    except ScenarioError as error:
        raise ScenarioError(f"{name}: {error}") from None
    return Planned(scenario_of(name, parameters), start)


def start_of(at: object, now: int | None) -> int:
    """Returns a start in Unix milliseconds: `+SECONDS` from now, `HH:MM[:SS]` next in UTC, or an ISO time.

    An empty text or None is now. A time without a zone is in UTC. Without `now`, only ISO times are known.
    Raises ScenarioError.
    """
    start = _absolute(at)
    if now is None:
        if start is None:
            raise ScenarioError("needs a start as an ISO time, such as @2026-11-20T14:30:00Z")
        if not _EARLIEST <= start < _LATEST:
            raise ScenarioError(f"at {str(at)[:40]!r}: the year must be from 1990 to 2099")
        return start
    start = _relative(at, now) if start is None else start
    if start is None or abs(start - now) > _MAX_SECONDS * 1000:
        raise ScenarioError(
            f"at {str(at)[:40]!r} is not a start within a year; give +SECONDS, HH:MM, HH:MM:SS or an ISO "
            "time such as 2026-11-20T14:30:00Z"
        )
    return start


def _absolute(at: object) -> int | None:
    try:
        moment = datetime.fromisoformat(at) if isinstance(at, str) else at
        return _milliseconds(moment) if isinstance(moment, datetime) else None
    except (ValueError, OverflowError):
        return None


def _relative(at: object, now: int) -> int | None:
    match at:
        case None | "":
            return now
        case int() | float() if not isinstance(at, bool) and 0 <= at <= _MAX_SECONDS:
            return now + round(at * 1000)
        case time():
            return _next(at, now)
        case str() if found := _SECONDS.fullmatch(at):
            return now + round(float(found[1]) * 1000)
        case str() if found := _CLOCK.fullmatch(at):
            return _next(time(int(found[1]), int(found[2]), int(found[3] or 0)), now)
        case _:
            return None


def _next(clock: time, now: int) -> int:
    today = datetime.fromtimestamp(now / 1000, UTC).date()
    start = datetime.combine(today, clock.replace(tzinfo=None), UTC)
    if _milliseconds(start) < now:
        start += timedelta(days=1)
    return _milliseconds(start)


def _milliseconds(moment: datetime) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000)


def _file(name: str, now: int | None) -> Iterator[Planned]:
    path = Path(name)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ScenarioError(f"{name}: {error.strerror}") from None
    if len(data) > MAX_FILE_BYTES:
        raise ScenarioError(f"{name}: is larger than {MAX_FILE_BYTES} bytes")
    try:
        tables = tomllib.loads(data.decode())
    except ValueError as error:
        raise ScenarioError(f"{name}: is not TOML: {error}") from None
    yield from _tables(name, tables, now)


def _tables(file: str, tables: Mapping[str, Any], now: int | None) -> Iterator[Planned]:
    unknown = next((key for key in tables if key != "scenario"), None)
    if unknown is not None:
        raise ScenarioError(f"{file}: there is no key {unknown[:40]!r}; it has [[scenario]] only")
    rows = tables.get("scenario", [])
    if not isinstance(rows, list) or not rows:
        raise ScenarioError(f"{file}: needs at least one [[scenario]]")
    for number, row in enumerate(rows, 1):
        place = f"{file}: scenario {number}"
        if not isinstance(row, dict) or not isinstance(row.get("name"), str):
            raise ScenarioError(f"{place}: needs a name")
        try:
            rest = {key: value for key, value in row.items() if key not in {"name", "at"}}
            yield made_of(row["name"], row.get("at"), rest, now)
        except ScenarioError as error:
            raise ScenarioError(f"{place}: {error}") from None


def texts_of(plan: Iterable[Planned]) -> Iterator[str]:
    """Yields the text of each scenario, with the date and time of its start: `plan_of` reads it."""
    for planned in plan:
        head = f"{planned.scenario.__struct_config__.tag}@{iso(planned.start)}"
        yield ",".join([head, *parameters(planned.scenario)])


def parameters(scenario: Scenario) -> Iterator[str]:
    """Yields the parameters that differ from their defaults."""
    for field in fields(scenario):
        value: Any = getattr(scenario, field.name)
        if value != field.default:
            text = "+".join(value) if isinstance(value, tuple) else str(value)
            yield f"{field.name}={text.lower() if isinstance(value, bool) else text}"
