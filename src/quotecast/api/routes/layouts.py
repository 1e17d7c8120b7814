"""A user's terminal: its layout, which is whatever the frontend makes of it."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

import msgspec
from litestar import Router, get, put
from msgspec import Meta, Raw, Struct

from quotecast.accounts import terminal
from quotecast.accounts.account import Account
from quotecast.accounts.terminal import SavedLayout
from quotecast.api.answers import Answer
from quotecast.api.edge.identity import require_token, with_account
from quotecast.api.parts import HttpRequest, parts_of
from quotecast.api.reference.account_operations import SECURED, AccountOperation, answer, outcomes, taking
from quotecast.api.reference.openapi import ID, refused
from quotecast.api.routes.bodies import body_of
from quotecast.errors import InvalidValue, MalformedJson, Problem, TooLarge
from quotecast.market import codec

MAX_BYTES: Final = 65_536
MAX_DEPTH: Final = 32

#: Numbers are not ours to judge: to a float, 1e999 would be out of range.
_DECODER: Final = msgspec.json.Decoder(float_hook=str)
_OBJECT: Final = {"type": "object", "additionalProperties": True}


Version = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class NewLayout(Struct, frozen=True):
    """What to keep."""

    layout: Annotated[
        Raw,
        Meta(
            description=f"Any JSON object of at most {MAX_BYTES} bytes and {MAX_DEPTH} levels",
            extra_json_schema=_OBJECT,
        ),
    ]
    version: Annotated[
        Version | None, Meta(description="The one that is replaced; without it, whatever there is")
    ] = None


class LayoutShown(Struct, frozen=True):
    """The layout as it was saved; `version` grows by one each time, and is 0 before the first."""

    layout: dict[str, Any]
    version: int
    updated_at: str | None


class _Encoded(Struct, frozen=True):
    """The same with a layout that is encoded already."""

    layout: Raw
    version: int
    updated_at: str | None


_LAYOUT: Final = {"panes": ["chart", "news"]}
_SHOWN: Final = LayoutShown(_LAYOUT, 1, "2026-11-20T15:30:00.000Z")
_STALE: Final = refused(
    "It was saved meanwhile", Problem("The layout is at version 2 now", "stale_version", ID)
)


@get(
    "/layout",
    summary="Your layout",
    operation_class=AccountOperation,
    security=SECURED,
    responses=outcomes(200, LayoutShown, _SHOWN, "The last one saved, or an empty one"),
)
async def layout(request: HttpRequest) -> Answer:
    """An empty object at version 0 for who never saved one."""
    return answer(_shown(await with_account(request, terminal.load_layout)))


@put(
    "/layout",
    summary="Save your layout",
    operation_class=taking(NewLayout, {"layout": _LAYOUT, "version": 0}),
    security=SECURED,
    responses=outcomes(200, LayoutShown, _SHOWN, "Saved", body=True, others={409: _STALE}),
)
async def save(request: HttpRequest) -> Answer:
    """With `version`, only if nobody saved another meanwhile."""
    given = await body_of(request, NewLayout)
    text = _checked(bytes(given.layout))
    now = datetime.fromtimestamp(parts_of(request).clock(), UTC)

    async def write(account: Account) -> SavedLayout:
        return await terminal.save_layout(account, text, given.version, now)

    return answer(_shown(await with_account(request, write, writing=True)))


def _checked(layout: bytes) -> str:
    """The text of a JSON object within bounds. Raises TooLarge, InvalidValue or MalformedJson."""
    if len(layout) > MAX_BYTES:
        raise TooLarge
    try:
        # What was skipped over so far is read now, to the last letter.
        value = _DECODER.decode(layout)
    except (ValueError, RecursionError) as error:
        raise MalformedJson from error
    if not isinstance(value, dict):
        raise InvalidValue("layout", "Not an object")
    if _is_deeper(value, MAX_DEPTH):
        raise InvalidValue("layout", f"At most {MAX_DEPTH} levels")
    return layout.decode()


def _is_deeper(value: object, levels: int) -> bool:
    match value:
        case dict():
            return levels == 0 or any(_is_deeper(each, levels - 1) for each in value.values())
        case list():
            return levels == 0 or any(_is_deeper(each, levels - 1) for each in value)
        case _:
            return False


def _shown(saved: SavedLayout) -> _Encoded:
    updated_at = codec.iso_utc(saved.updated_at.timestamp()) if saved.updated_at else None
    return _Encoded(Raw(saved.layout.encode()), saved.version, updated_at)


BODIES: Final[tuple[type[Struct], ...]] = (NewLayout,)

ROUTER: Final = Router(
    "/api/terminal",
    route_handlers=[layout, save],
    guards=[require_token],
    tags=["Terminal"],
    opt={"limit": "terminal"},
)
