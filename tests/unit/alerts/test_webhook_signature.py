"""Signatures of webhooks."""

from quotecast.alerts.webhooks import new_secret, signature


def test_signature_is_the_one_of_the_specification() -> None:
    """The example of Standard Webhooks, which its libraries test too."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    assert signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body) == (
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    )


def test_secrets_differ() -> None:
    assert len({new_secret() for _ in range(50)}) == 50
