"""Invalid tokens, each made from a valid one."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

#: Marks a member of the header or of the claims to leave out.
OMITTED: Final[Any] = object()


class ValidToken(NamedTuple):
    """A valid token in parts, and the secret that signs it."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    secret: str

    def sign(self, digest: str = "sha256", **changed: Any) -> str:
        """Returns the token with other claims and a valid signature."""
        return _sign(self.header, _merge(self.claims, changed), self.secret, digest)

    def with_header(self, digest: str = "sha256", **changed: Any) -> str:
        """Returns the token with another header and a valid signature."""
        return _sign(_merge(self.header, changed), self.claims, self.secret, digest)


def split_token(token: str, secret: str) -> ValidToken:
    header, claims, _ = token.split(".")
    return ValidToken(_decode_part(header), _decode_part(claims), secret)


def _merge(members: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**members, **changed}.items() if value is not OMITTED}


def _sign(header: Mapping[str, Any], claims: Any, secret: str, digest: str = "sha256") -> str:
    signed = f"{encode_part(json.dumps(header).encode())}.{encode_part(json.dumps(claims).encode())}"
    return f"{signed}.{encode_part(hmac.digest(secret.encode(), signed.encode(), digest))}"


def encode_part(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _decode_part(part: str) -> dict[str, Any]:
    members: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=="))
    return members


def _without_signature(good: ValidToken) -> str:
    return good.with_header(alg="none").rpartition(".")[0] + "."


def _by_another_issuer(good: ValidToken) -> str:
    """Returns a token that another issuer signed under our key's name."""
    return _sign(good.header, good.claims, "a secret of somebody else altogether")


def _replace_part(good: ValidToken, number: int, text: str) -> str:
    parts = good.sign().split(".")
    parts[number] = text
    return ".".join(parts)


def _join_parts(good: ValidToken, start: int, end: int | None = None) -> str:
    """Returns a part of the token, cut at thirds of its length."""
    return ".".join(good.sign().split(".")[start:end])


def _without_claim(claim: str) -> Callable[[ValidToken], str]:
    return lambda good: good.sign(**{claim: OMITTED})


#: Forged tokens by their defect.
FORGERIES: Final[Mapping[str, Callable[[ValidToken], str | bytes]]] = {
    "an algorithm of none": _without_signature,
    "none in capitals": lambda good: good.with_header(alg="NONE"),
    "another digest": lambda good: good.with_header("sha512", alg="HS512"),
    "another digest that is not named": lambda good: good.with_header("sha512"),
    "RS256 signed with our secret": lambda good: good.with_header(alg="RS256"),
    "no algorithm": lambda good: good.with_header(alg=OMITTED),
    "a number as algorithm": lambda good: good.with_header(alg=256),
    "another's secret": _by_another_issuer,
    "the secret's hash as secret": lambda good: _sign(
        good.header, good.claims, hashlib.sha256(good.secret.encode()).hexdigest()
    ),
    "an empty secret": lambda good: _sign(good.header, good.claims, ""),
    "an unknown key": lambda good: good.with_header(kid="0000000000000000"),
    "no key": lambda good: good.with_header(kid=OMITTED),
    "a path as key": lambda good: good.with_header(kid="../../../dev/null"),
    "a number as key": lambda good: good.with_header(kid=1),
    "a list as key": lambda good: good.with_header(kid=["a"]),
    "an object as key": lambda good: good.with_header(kid={}),
    "null as key": lambda good: good.with_header(kid=None),
    "an unknown extension": lambda good: good.with_header(crit=["exp"]),
    "an extension of another type": lambda good: good.with_header(crit="b64"),
    "no extensions": lambda good: good.with_header(crit=[]),
    "a payload that is not encoded": lambda good: good.with_header(crit=["b64"], b64=False),
    "an expired one": lambda good: good.sign(exp=good.claims["iat"]),
    "one from the future": lambda good: good.sign(iat=good.claims["iat"] + 61),
    **{f"no {name}": _without_claim(name) for name in ("sub", "iat", "exp", "jti", "ver")},
    "a number as subject": lambda good: good.sign(sub=1),
    "null as subject": lambda good: good.sign(sub=None),
    "a subject in capitals": lambda good: good.sign(sub=good.claims["sub"].upper().replace("0", "A")),
    "a subject with a line feed": lambda good: good.sign(sub=f"{good.claims['sub']}\n"),
    "a subject that is SQL": lambda good: good.sign(sub="' OR 1 = 1 --"),
    "text as end": lambda good: good.sign(exp=str(good.claims["exp"])),
    "a fraction as end": lambda good: good.sign(exp=good.claims["exp"] + 0.5),
    "true as end": lambda good: good.sign(exp=True),
    "null as end": lambda good: good.sign(exp=None),
    "a huge end": lambda good: good.sign(exp=10**300),
    "an infinite end": lambda good: good.sign(exp=float("inf")),
    "an end that is no number": lambda good: good.sign(exp=float("nan")),
    "a negative end": lambda good: good.sign(exp=-1),
    "text as start": lambda good: good.sign(iat="now"),
    "a negative version": lambda good: good.sign(ver=-1),
    "text as version": lambda good: good.sign(ver="0"),
    "true as version": lambda good: good.sign(ver=True),
    "a number as id": lambda good: good.sign(jti=7),
    "an empty id": lambda good: good.sign(jti=""),
    "claims in a list": lambda good: _sign(good.header, [good.claims], good.secret),
    "a header in a list": lambda good: _replace_part(good, 0, encode_part(b"[]")),
    "a header that is no JSON": lambda good: _replace_part(good, 0, encode_part(b"\xff\xfe")),
    "a header that nests deeply": lambda _: f"{encode_part(b'[' * 720)}.e30.e30",
    "other claims under a good signature": lambda good: _replace_part(good, 1, encode_part(b"{}")),
    "no header": lambda good: _join_parts(good, 1),
    "no signature": lambda good: _join_parts(good, 0, 2),
    "an empty signature": lambda good: f"{_join_parts(good, 0, 2)}.",
    "a header alone": lambda good: _join_parts(good, 0, 1),
    "a signature cut short": lambda good: good.sign()[:-4],
    "a character less": lambda good: good.sign()[:-1],
    "one part more": lambda good: f"{good.sign()}.e30",
    "two in one": lambda good: f"{good.sign()},{good.sign()}",
    "points": lambda _: "..",
    "16 KB": lambda good: good.sign(jti="x" * 16_384),
    "16 KB of nothing": lambda _: "x" * 16_384,
    "bytes beyond ASCII": lambda good: good.sign().encode() + b"\xff\xfe",
    "letters of Turkish": lambda _: "ışğ.ışğ.ışğ".encode(),
}
