"""The router of the operator's interface, and the bodies of its requests."""

from typing import Final

from litestar import Router
from msgspec import Struct

from quotecast.api.gate.operators import refuse_other_sites
from quotecast.api.middleware.middleware import OPERATORS_PATH
from quotecast.api.routes.admin import keys, login, overview, users
from quotecast.api.routes.admin.keys import KeyPlan
from quotecast.api.routes.admin.login import OperatorCredentials

BODIES: Final[tuple[type[Struct], ...]] = (OperatorCredentials, KeyPlan)

ROUTER: Final = Router(
    OPERATORS_PATH,
    route_handlers=[
        login.login,
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
    guards=[refuse_other_sites],
    tags=["Operators"],
    opt={
        "tag": "Processes, users, keys and the log of actions, for operators.",
        "feed": None,
        "limit": "admin",
    },
)
