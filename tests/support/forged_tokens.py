"""Invalid tokens, each made from a valid one."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

#: Marks a member of the header or of the claims to leave out.
LEFT_OUT: Final[Any] = object()


class Good(NamedTuple):
    """A valid token in parts, and the secret that signs it."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    secret: str

    def sign(self, digest: str = "sha256", **changed: Any) -> str:
        """Returns the token with other claims and a valid signature."""
        return _signed(self.header, _with(self.claims, changed), self.secret, digest)

    def headed(self, digest: str = "sha256", **changed: Any) -> str:
        """Returns the token with another header and a valid signature."""
        return _signed(_with(self.header, changed), self.claims, self.secret, digest)


def taken_apart(token: str, secret: str) -> Good:
    header, claims, _ = token.split(".")
    return Good(_read(header), _read(claims), secret)


def _with(members: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**members, **changed}.items() if value is not LEFT_OUT}


def _signed(header: Mapping[str, Any], claims: Any, secret: str, digest: str = "sha256") -> str:
    signed = f"{encoded(json.dumps(header).encode())}.{encoded(json.dumps(claims).encode())}"
    return f"{signed}.{encoded(hmac.digest(secret.encode(), signed.encode(), digest))}"


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _read(part: str) -> dict[str, Any]:
    members: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=="))
    return members


def _unsigned(good: Good) -> str:
    return good.headed(alg="none").rpartition(".")[0] + "."


def _foreign(good: Good) -> str:
    """Returns a token that another issuer signed under our key's name."""
    return _signed(good.header, good.claims, "a secret of somebody else altogether")


def _part(good: Good, number: int, text: str) -> str:
    parts = good.sign().split(".")
    parts[number] = text
    return ".".join(parts)


def _cut(good: Good, start: int, end: int | None = None) -> str:
    """Returns a part of the token, cut at thirds of its length."""
    return ".".join(good.sign().split(".")[start:end])


def _lacking(claim: str) -> Callable[[Good], str]:
    return lambda good: good.sign(**{claim: LEFT_OUT})


#: Forged tokens by their defect.
FORGERIES: Final[Mapping[str, Callable[[Good], str | bytes]]] = {
    "an algorithm of none": _unsigned,
    "none in capitals": lambda good: good.headed(alg="NONE"),
    "another digest": lambda good: good.headed("sha512", alg="HS512"),
    "another digest that is not named": lambda good: good.headed("sha512"),
    "RS256 signed with our secret": lambda good: good.headed(alg="RS256"),
    "no algorithm": lambda good: good.headed(alg=LEFT_OUT),
    "a number as algorithm": lambda good: good.headed(alg=256),
    "another's secret": _foreign,
    "the secret's hash as secret": lambda good: _signed(
        good.header, good.claims, hashlib.sha256(good.secret.encode()).hexdigest()
    ),
    "an empty secret": lambda good: _signed(good.header, good.claims, ""),
    "an unknown key": lambda good: good.headed(kid="0000000000000000"),
    "no key": lambda good: good.headed(kid=LEFT_OUT),
    "a path as key": lambda good: good.headed(kid="../../../dev/null"),
    "a number as key": lambda good: good.headed(kid=1),
    "a list as key": lambda good: good.headed(kid=["a"]),
    "an object as key": lambda good: good.headed(kid={}),
    "null as key": lambda good: good.headed(kid=None),
    "an unknown extension": lambda good: good.headed(crit=["exp"]),
    "an extension of another type": lambda good: good.headed(crit="b64"),
    "no extensions": lambda good: good.headed(crit=[]),
    "a payload that is not encoded": lambda good: good.headed(crit=["b64"], b64=False),
    "an expired one": lambda good: good.sign(exp=good.claims["iat"]),
    "one from the future": lambda good: good.sign(iat=good.claims["iat"] + 61),
    **{f"no {name}": _lacking(name) for name in ("sub", "iat", "exp", "jti", "ver")},
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
    "claims in a list": lambda good: _signed(good.header, [good.claims], good.secret),
    "a header in a list": lambda good: _part(good, 0, encoded(b"[]")),
    "a header that is no JSON": lambda good: _part(good, 0, encoded(b"\xff\xfe")),
    "a header that nests deeply": lambda _: f"{encoded(b'[' * 720)}.e30.e30",
    "other claims under a good signature": lambda good: _part(good, 1, encoded(b"{}")),
    "no header": lambda good: _cut(good, 1),
    "no signature": lambda good: _cut(good, 0, 2),
    "an empty signature": lambda good: f"{_cut(good, 0, 2)}.",
    "a header alone": lambda good: _cut(good, 0, 1),
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
