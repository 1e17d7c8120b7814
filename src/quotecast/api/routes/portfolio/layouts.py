"""The layout of a user's terminal: a JSON object that only the frontend interprets."""

from typing import Annotated, Any, Final

import msgspec
from litestar import Router, get, put
from msgspec import Meta, Raw, Struct

from quotecast.api.answers.answers import Answer
from quotecast.api.gate.identity import require_token, with_account
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import SECURED, AccountOperation, answer, outcomes, taking
from quotecast.api.reference.openapi import ID, refused
from quotecast.api.routes.bodies import body_of
from quotecast.errors import InvalidValue, MalformedJson, Problem, TooLarge
from quotecast.market import codec
from quotecast.portfolio import layouts as terminal
from quotecast.portfolio.layouts import SavedLayout

MAX_BYTES: Final = 65_536
MAX_DEPTH: Final = 32

#: Accepts any number: as a float, 1e999 would be out of range.
_DECODER: Final = msgspec.json.Decoder(float_hook=str)
_OBJECT: Final = {"type": "object", "additionalProperties": True}


Version = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class NewLayout(Struct, frozen=True):
    """The body of a request that saves a layout."""

    layout: Annotated[
        Raw,
        Meta(
            description=f"Any JSON object of at most {MAX_BYTES} bytes and {MAX_DEPTH} levels",
            extra_json_schema=_OBJECT,
        ),
    ]
    version: Annotated[Version | None, Meta(description="The version to replace; by default any version")] = (
        None
    )


class LayoutShown(Struct, frozen=True):
    """The saved layout; `version` is 0 before the first save and grows by one with each."""

    layout: dict[str, Any]
    version: int
    updated_at: str | None


_LAYOUT: Final = {"panes": ["chart", "news"]}
_SHOWN: Final = LayoutShown(_LAYOUT, 1, "2026-11-20T15:30:00.000Z")
_STALE: Final = refused(
    "Another version was saved meanwhile", Problem("The layout is at version 2 now", "stale_version", ID)
)


@get(
    "/layout",
    operation_id="getLayout",
    summary="Your layout",
    operation_class=AccountOperation,
    responses=outcomes(200, LayoutShown, _SHOWN, "The saved layout, or an empty one"),
)
async def layout(request: HttpRequest) -> Answer:
    """Returns an empty object at version 0 before the first save."""
    return answer(_encode_layout(await with_account(request, terminal.load_layout)))


@put(
    "/layout",
    operation_id="updateLayout",
    summary="Save your layout",
    operation_class=taking(NewLayout, {"layout": _LAYOUT, "version": 0}),
    responses=outcomes(200, LayoutShown, _SHOWN, "Saved", body=True, others={409: _STALE}),
)
async def save(request: HttpRequest) -> Answer:
    """Replaces the layout; with `version`, only if that is still the current version."""
    given = await body_of(request, NewLayout)
    text = _require_object(bytes(given.layout))
    now = services_of(request).wall_time()
    saved = await with_account(
        request, lambda account: terminal.save_layout(account, text, given.version, now), writing=True
    )
    return answer(_encode_layout(saved))


def _require_object(layout: bytes) -> str:
    """Returns the text of a JSON object within bounds. Raises TooLarge, InvalidValue or MalformedJson."""
    if len(layout) > MAX_BYTES:
        raise TooLarge
    try:
        # The body's decoder skipped this value; decode it in full now.
        value = _DECODER.decode(layout)
    except (ValueError, RecursionError) as error:
        raise MalformedJson from error
    if not isinstance(value, dict):
        raise InvalidValue("layout", "Must be an object")
    if _is_deeper(value, MAX_DEPTH):
        raise InvalidValue("layout", f"Must have at most {MAX_DEPTH} levels")
    return layout.decode()


def _is_deeper(value: object, levels: int) -> bool:
    match value:
        case dict():
            return levels == 0 or any(_is_deeper(each, levels - 1) for each in value.values())
        case list():
            return levels == 0 or any(_is_deeper(each, levels - 1) for each in value)
        case _:
            return False


def _encode_layout(saved: SavedLayout) -> dict[str, Any]:
    """Returns a LayoutShown whose layout is encoded JSON."""
    updated_at = codec.iso_utc(saved.updated_at.timestamp()) if saved.updated_at else None
    return {"layout": Raw(saved.layout.encode()), "version": saved.version, "updated_at": updated_at}


BODIES: Final[tuple[type[Struct], ...]] = (NewLayout,)

ROUTER: Final = Router(
    "/api/terminal",
    route_handlers=[layout, save],
    guards=[require_token],
    security=SECURED,
    tags=["Terminal"],
    opt={"tag": "How you arranged your terminal.", "feed": None, "limit": "terminal"},
)
