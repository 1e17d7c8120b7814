"""API keys of all users, as operators see and change them."""

from typing import Annotated, Final

from litestar import get, post
from litestar.params import FromPath
from msgspec import Meta, Struct

from quotecast.access import storage
from quotecast.access.plans import USER
from quotecast.access.storage import KEY
from quotecast.api.answers.answers import Answer
from quotecast.api.gate.operators import actor_of, admin_of, with_operator
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import AccountOperation, answer, not_found, taking
from quotecast.api.routes.accounts.keys import time_text
from quotecast.api.routes.admin.operations import operator_done, operator_outcomes
from quotecast.api.routes.admin.users import BeforeId, Find
from quotecast.api.routes.bodies import body_of
from quotecast.database.database import Run
from quotecast.database.ids import require_id
from quotecast.errors import InvalidValue
from quotecast.market.codec import iso_utc
from quotecast.operators import lists
from quotecast.operators.actions import record
from quotecast.operators.sessions import OperatorSeen


class KeyOfUser(Struct, frozen=True, kw_only=True):
    """A key; `user_id` and `email` are empty for a key of the operator."""

    id: str
    name: str
    plan: str
    user_id: str
    email: str
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    user_disabled: bool


class KeysOfUsers(Struct, frozen=True):
    """A page of keys, and the plans that a key may have."""

    keys: list[KeyOfUser]
    plans: list[str]


class KeyPlan(Struct, frozen=True):
    """The body of a request that gives a key another plan."""

    plan: Annotated[str, Meta(max_length=40, description="Name of a plan; `user` is that of users")]


_SHOWN: Final = KeyOfUser(
    id="01a1fc87e0c47a905dd5d088",
    name="Price ticker",
    plan="silver",
    user_id="019a9c3f5b2d4f6a8c0e1b2d",
    email="ayse@example.com",
    created_at="2026-11-20T15:30:00.000Z",
    expires_at=None,
    revoked_at=None,
    user_disabled=False,
)
_UNKNOWN: Final = {404: not_found(KEY)}


@get(
    "/keys",
    operation_id="listKeysOfUsers",
    summary="API keys of all users",
    operation_class=AccountOperation,
    responses=operator_outcomes(
        KeysOfUsers, KeysOfUsers([_SHOWN], ["silver", USER]), "At most 50 keys, the newest first", 422
    ),
)
async def list_keys(request: HttpRequest, find: Find = "", before: BeforeId = "") -> Answer:
    """`find` may be a plan too. The id of the last key is `before` of the next page."""

    async def read(run: Run, _: OperatorSeen) -> KeysOfUsers:
        keys = await lists.keys(run, find.replace("\0", ""), before.replace("\0", ""))
        shown = [
            KeyOfUser(
                id=key.id,
                name=key.name,
                plan=key.plan or USER,
                user_id=key.user_id or "",
                email=key.email,
                created_at=iso_utc(key.created_at.timestamp()),
                expires_at=time_text(key.expires_at),
                revoked_at=time_text(key.revoked_at),
                user_disabled=key.user_disabled,
            )
            for key in keys
        ]
        return KeysOfUsers(shown, await _plans(request, run))

    return answer(await with_operator(request, read))


@post(
    "/keys/{key_id:str}/revoke",
    status_code=204,
    operation_id="revokeKeyOfUser",
    summary="Revoke an API key",
    operation_class=AccountOperation,
    responses=operator_done("Revoked", others=_UNKNOWN),
)
async def revoke(request: HttpRequest, key_id: FromPath[str]) -> None:
    """The key ends within a second on every worker, with its open feeds."""
    require_id(KEY, key_id)

    async def write(run: Run, operator: OperatorSeen) -> None:
        await storage.revoke_any(run, key_id, services_of(request).wall_time())
        await record(run, actor_of(request, operator.email), "keys.revoke", target=key_id)

    await with_operator(request, write)


@post(
    "/keys/{key_id:str}/plan",
    status_code=204,
    operation_id="setPlanOfKey",
    summary="Give an API key another plan",
    operation_class=taking(KeyPlan, {"plan": "silver"}),
    responses=operator_done("The key has the plan", 400, 408, 413, 422, others=_UNKNOWN),
)
async def set_plan(request: HttpRequest, key_id: FromPath[str]) -> None:
    """The key's feeds close within a second; their clients connect again, and get the new bounds."""
    plan = (await body_of(request, KeyPlan)).plan
    require_id(KEY, key_id)

    async def write(run: Run, operator: OperatorSeen) -> None:
        if plan not in await _plans(request, run):
            raise InvalidValue("plan", "There is no such plan")
        await storage.set_plan(run, key_id, "" if plan == USER else plan)
        actor = actor_of(request, operator.email)
        await record(run, actor, "keys.plan", target=key_id, detail=f"plan {plan}")

    await with_operator(request, write)


async def _plans(request: HttpRequest, run: Run) -> list[str]:
    return sorted({USER, *admin_of(request).plans, *await storage.names_of_plans(run)})
