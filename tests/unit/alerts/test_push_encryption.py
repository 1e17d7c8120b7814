"""Web Push: the example of RFC 8291, keys, and the token of RFC 8292."""

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from quotecast.alerts import push
from quotecast.alerts.push import Vapid
from quotecast.errors import SettingsError

# RFC 8291, appendix A.
MESSAGE = b"When I grow up, I want to be a watermelon"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
BROWSER = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
ENCRYPTED = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_y"
    "l95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def test_encryption_is_the_one_of_the_specification() -> None:
    made = push.encrypt(
        MESSAGE,
        push.decode(BROWSER),
        push.decode(AUTH),
        sender_key=push.private_key_of(SENDER),
        salt=push.decode(SALT),
    )
    assert push.encode(made) == ENCRYPTED


def test_each_message_has_its_own_key_and_salt() -> None:
    keys = push.decode(BROWSER), push.decode(AUTH)
    assert len({push.encrypt(MESSAGE, *keys)[:86] for _ in range(20)}) == 20


def test_token_names_the_push_service_and_ends_within_a_day() -> None:
    """The token is signed with the private key, whose public half browsers have."""
    vapid = Vapid(SENDER, "mailto:operator@example.com")
    now = 1_800_000_000.0
    kind, rest = vapid.authorization("https://push.example.net/send/x?y", now).split(" ", 1)
    token, key = (part.partition("=")[2] for part in rest.split(", "))
    assert (kind, key) == ("vapid", vapid.public_key)
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), push.decode(key))
    claims = jwt.decode(
        token, point, ["ES256"], audience="https://push.example.net", options={"verify_exp": False}
    )
    assert claims["sub"] == "mailto:operator@example.com"
    assert now < claims["exp"] <= now + 86_400


@pytest.mark.parametrize(
    "text", ["", "x", "A" * 43, "_" * 43, "A" * 42, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ+oR!", "ş" * 43]
)
def test_text_that_is_no_key_is_an_error(text: str) -> None:
    """The error leaves out the text."""
    with pytest.raises(SettingsError, match="must be a VAPID key") as error:
        Vapid(text, "mailto:operator@example.com")
    assert not text or text not in str(error.value).replace("a VAPID", "")


def test_new_keys_are_valid_and_differ() -> None:
    assert len({Vapid(push.new_private_key(), "").public_key for _ in range(10)}) == 10


@pytest.mark.parametrize("raw", [b"", b"\4" + b"\0" * 64, b"\2" + b"\1" * 32, push.decode(BROWSER)[:-1]])
def test_bytes_that_are_no_point_are_no_public_key(raw: bytes) -> None:
    assert not push.is_public_key(raw)
    assert push.is_public_key(push.decode(BROWSER))
