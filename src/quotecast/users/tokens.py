"""Access tokens: JSON Web Tokens (RFC 7519), signed with a secret of the service."""

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Annotated, Final, TypeVar

import jwt
import msgspec
from msgspec import Meta, Struct

from quotecast.errors import InvalidToken

ALGORITHM: Final = "HS256"
#: Characters; longer than any token of ours, so that a longer one is rejected unread.
MAX_TOKEN_LENGTH: Final = 1024
#: Seconds by which the issuing worker's clock may be ahead of ours.
MAX_SKEW: Final = 60
#: Verified tokens whose claims a worker caches.
MAX_REMEMBERED: Final = 10_000

T = TypeVar("T")

Seconds = Annotated[int, Meta(ge=0, le=2**53)]


UserId = Annotated[str, Meta(pattern=r"\A[0-9a-f]{24}\Z")]
TokenId = Annotated[str, Meta(min_length=1, max_length=64)]


class Claims(Struct, frozen=True, gc=False):
    """The claims of a token: its user (`sub`), and when it was issued and expires, in Unix seconds.

    `ver` is the user's token version at that time; the token is invalid once the user has another one. `sid`
    is the session; the token is invalid once the session has ended.
    """

    sub: UserId
    iat: Seconds
    exp: Seconds
    jti: TokenId
    ver: Seconds
    sid: UserId


class Device(Struct, frozen=True, gc=False):
    """A device from which the user `sub` has logged in; `jti` is the id of the token that it got."""

    sub: UserId
    jti: TokenId


class Tokens:
    """Issues and verifies tokens.

    The first of `keys` signs; all of them verify, so that an operator can put a new key in front of the old
    one while tokens of the old one are still valid. `clock` is Unix time.
    """

    def __init__(self, keys: Sequence[str], *, lifetime_seconds: int, clock: Callable[[], float]) -> None:
        self._keys = {_key_id(key): key.encode() for key in keys}
        self._signing = _key_id(keys[0])
        self.lifetime_seconds = lifetime_seconds
        self._clock = clock
        self._claims: OrderedDict[str, Claims] = OrderedDict()
        self._void: OrderedDict[str, None] = OrderedDict()

    def issue(self, user_id: str, version: int, session: str) -> str:
        """Returns a new token for a user at a token version, in a session."""
        now = int(self._clock())
        token_id = secrets.token_hex(12)
        return self._sign(Claims(user_id, now, now + self.lifetime_seconds, token_id, version, session))

    def issue_device(self, user_id: str) -> str:
        """Returns a token by which a device is recognised; it never expires, and grants no access."""
        return self._sign(Device(user_id, secrets.token_hex(12)))

    def device(self, token: str) -> Device:
        """Returns the device of a token from `issue_device` or `issue`, of any age.

        Raises InvalidToken.
        """
        return self._decode(token, Device)

    def read(self, token: str) -> Claims:
        """Returns the claims of a token; verifies its signature once. Raises InvalidToken.

        It does not notice a revoked token before `remember_void`: `open_account` compares the version with
        the user's row, and looks for the session.
        """
        if token in self._void:
            raise InvalidToken
        claims = self._claims.get(token)
        if claims is None:
            claims = self._claims[token] = self._decode(token, Claims)
            if len(self._claims) > MAX_REMEMBERED:
                self._claims.popitem(last=False)
        now = self._clock()
        if claims.exp <= now or claims.iat > now + MAX_SKEW:
            self._claims.pop(token, None)
            raise InvalidToken
        return claims

    def remember_void(self, token: str) -> None:
        """Makes `read` refuse a token that `open_account` found revoked: it is never valid again."""
        self._claims.pop(token, None)
        self._void[token] = None
        if len(self._void) > MAX_REMEMBERED:
            self._void.popitem(last=False)

    def _sign(self, claims: Claims | Device) -> str:
        key = self._keys[self._signing]
        return jwt.encode(msgspec.to_builtins(claims), key, ALGORITHM, headers={"kid": self._signing})

    def _decode(self, token: str, kind: type[T]) -> T:
        if len(token) > MAX_TOKEN_LENGTH:
            raise InvalidToken
        try:
            key = self._keys[jwt.get_unverified_header(token).get("kid", "")]
            payload = jwt.api_jws.decode(token, key, [ALGORITHM])
            return msgspec.json.decode(payload, type=kind)
        except (jwt.PyJWTError, KeyError, TypeError, ValueError) as error:
            raise InvalidToken from error


def _key_id(key: str) -> str:
    """Returns an id of a key: a truncated hash, which reveals no more of the key than its signatures do."""
    return hashlib.sha256(b"quotecast token key " + key.encode()).hexdigest()[:16]
