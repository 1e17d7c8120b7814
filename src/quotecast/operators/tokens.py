"""Tokens of operators: JSON Web Tokens with a purpose and a signing key of their own.

No token of a user opens the operator's interface, and none of an operator opens an account.
"""

import hmac
from collections.abc import Callable, Sequence
from typing import Final, Literal

import jwt
import msgspec
from msgspec import Struct

from quotecast.operators.errors import OperatorSessionEnded
from quotecast.users.tokens import ALGORITHM, MAX_SKEW, MAX_TOKEN_LENGTH, Seconds, UserId

#: Seconds after which a session ends, however much it is used, and after its last use.
LIFETIME_SECONDS: Final = 8 * 3600
IDLE_SECONDS: Final = 30 * 60


class OperatorClaims(Struct, frozen=True):
    """The claims of a token: its user, its session, its times in Unix seconds, and its purpose."""

    sub: UserId
    sid: UserId
    iat: Seconds
    exp: Seconds
    use: Literal["operator"]


class OperatorTokens:
    """Issues and reads tokens. The first of `secrets` signs, all verify. `clock` is Unix time."""

    def __init__(self, secrets: Sequence[str], clock: Callable[[], float]) -> None:
        self._keys = [
            hmac.digest(secret.encode(), b"quotecast tokens of operators", "sha256") for secret in secrets
        ]
        self._clock = clock

    def issue(self, user_id: str, session: str) -> str:
        """Returns the token of a new session."""
        now = int(self._clock())
        claims = OperatorClaims(user_id, session, now, now + LIFETIME_SECONDS, "operator")
        return jwt.encode(msgspec.to_builtins(claims), self._keys[0], ALGORITHM)

    def read(self, token: str) -> OperatorClaims:
        """Returns the claims of a token. Raises OperatorSessionEnded.

        It does not know whether the session still lasts: `sessions.resume` does.
        """
        if len(token) > MAX_TOKEN_LENGTH:
            raise OperatorSessionEnded
        for key in self._keys:
            try:
                claims = msgspec.json.decode(jwt.api_jws.decode(token, key, [ALGORITHM]), type=OperatorClaims)
            except (jwt.PyJWTError, TypeError, ValueError):
                continue
            now = self._clock()
            if claims.iat <= now + MAX_SKEW and now < claims.exp:
                return claims
        raise OperatorSessionEnded
