"""Tokens of those who have logged in: JSON Web Tokens (RFC 7519) signed with a secret of ours."""

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
#: Longer than any token of ours; what is longer is not looked at.
MAX_TOKEN_LENGTH: Final = 1024
#: How far behind ours the clock of the worker that issued a token may be, in seconds.
MAX_SKEW: Final = 60
#: Tokens that are remembered with what they say.
MAX_REMEMBERED: Final = 10_000

T = TypeVar("T")

Seconds = Annotated[int, Meta(ge=0, le=2**53)]


UserId = Annotated[str, Meta(pattern=r"\A[0-9a-f]{24}\Z")]
TokenId = Annotated[str, Meta(min_length=1, max_length=64)]


class Claims(Struct, frozen=True, gc=False):
    """Whose token it is (`sub`), issued when and until when it is good, in Unix seconds.

    `ver` is the user's token version when it was issued: once the user's is another, the token is void.
    """

    sub: UserId
    iat: Seconds
    exp: Seconds
    jti: TokenId
    ver: Seconds


class Device(Struct, frozen=True, gc=False):
    """A device from which the user `sub` has logged in, named by the token that it was given then."""

    sub: UserId
    jti: TokenId


class Tokens:
    """Issues tokens and reads them.

    The first of `secrets` signs; all of them are accepted, so that a new one can be put in front of the
    one that it replaces while tokens of the older are still about. `clock` is Unix time.
    """

    def __init__(self, keys: Sequence[str], *, lifetime_seconds: int, clock: Callable[[], float]) -> None:
        self._keys = {_key_id(key): key.encode() for key in keys}
        self._signing = _key_id(keys[0])
        self._lifetime = lifetime_seconds
        self._clock = clock
        self._claims: OrderedDict[str, Claims] = OrderedDict()

    def issue(self, user_id: str, version: int) -> str:
        """A token of that user."""
        now = int(self._clock())
        return self._sign(Claims(user_id, now, now + self._lifetime, secrets.token_hex(12), version))

    def issue_device(self, user_id: str) -> str:
        """What a device keeps to be known again; it has no end, and opens nothing."""
        return self._sign(Device(user_id, secrets.token_hex(12)))

    def device(self, token: str) -> Device:
        """The device that was given this text of `issue_device`, or this token of `issue`, however old.

        Raises InvalidToken.
        """
        return self._decode(token, Device)

    def read(self, token: str) -> Claims:
        """What a token says; signatures are checked once. Raises InvalidToken.

        Whether the token was revoked is for whoever reads the user's row to say.
        """
        claims = self._claims.get(token) or self._decode_once(token)
        now = self._clock()
        if claims.exp <= now or claims.iat > now + MAX_SKEW:
            self._claims.pop(token, None)
            raise InvalidToken
        return claims

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

    def _decode_once(self, token: str) -> Claims:
        claims = self._decode(token, Claims)
        self._claims[token] = claims
        if len(self._claims) > MAX_REMEMBERED:
            self._claims.popitem(last=False)
        return claims


def _key_id(key: str) -> str:
    """Names a secret without telling anything of it that its signatures do not."""
    return hashlib.sha256(b"quotecast token key " + key.encode()).hexdigest()[:16]
