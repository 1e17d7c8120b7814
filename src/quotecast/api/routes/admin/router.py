"""The router of the operator's interface, and the bodies of its requests."""

from typing import Final

from litestar import Router
from msgspec import Struct

from quotecast.api.gate.operators import refuse_other_sites, require_operator
from quotecast.api.middleware.middleware import OPERATORS_PATH
from quotecast.api.routes.admin import keys, login, overview, users
from quotecast.api.routes.admin.keys import KeyPlan
from quotecast.api.routes.admin.login import OperatorCredentials
from quotecast.api.routes.admin.operations import OPERATOR

BODIES: Final[tuple[type[Struct], ...]] = (OperatorCredentials, KeyPlan)

#: The routes of an operator who has logged in.
_OWN: Final = Router(
    "/",
    route_handlers=[
        login.session,
        login.logout,
        overview.overview,
        overview.usage,
        overview.quality,
        overview.list_actions,
        users.list_users,
        users.disable,
        users.enable,
        users.revoke,
        keys.list_keys,
        keys.revoke,
        keys.set_plan,
    ],
    guards=[require_operator],
    security=OPERATOR,
)
ROUTER: Final = Router(
    OPERATORS_PATH,
    route_handlers=[login.login, _OWN],
    guards=[refuse_other_sites],
    tags=["Operators"],
    opt={
        "tag": "Processes, users, keys and the log of actions, for operators.",
        "feed": None,
        "limit": "admin",
    },
)
