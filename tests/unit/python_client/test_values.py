"""What the Python client makes of answers: data frames, and messages to a webhook."""

import base64
import hashlib
import hmac
import sys

import pandas as pd
import polars as pl
import pytest

from quotecast_client import InvalidWebhook, to_pandas, to_polars, verify_webhook

BARS = [
    {"time": "2026-11-20T15:30:00Z", "open": 1.0, "close": 2.0, "volume": None},
    {"time": "2026-11-20T15:31:00Z", "open": 2.0, "close": 3.0, "volume": 5.0},
]
SECRET = "whsec_" + base64.b64encode(b"key").decode()
BODY = b'{"type":"alert"}'


def test_bars_are_a_frame_of_pandas_by_their_time() -> None:
    frame = to_pandas(BARS)
    assert frame.index[1] == pd.Timestamp("2026-11-20T15:31:00Z")
    assert frame["close"].tolist() == [2.0, 3.0]


def test_bars_are_a_frame_of_polars() -> None:
    frame = to_polars(BARS)
    assert frame.schema["time"] == pl.Datetime("us", "UTC")
    assert frame["volume"].to_list() == [None, 5.0]


def test_quotes_are_frames_with_a_row_each() -> None:
    quotes = {"AAPL": {"ticker": "AAPL", "price": 1.0, "timestamp": "2026-11-20T15:30:00.123Z"}}
    assert to_polars(quotes)["price"].to_list() == [1.0]
    assert to_pandas(quotes)["timestamp"][0] == pd.Timestamp("2026-11-20T15:30:00.123Z")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_installed_is_an_import_error(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError):
        (to_pandas if library == "pandas" else to_polars)(BARS)


def headers(sent: str = "1000", body: bytes = BODY) -> dict[str, str]:
    digest = hmac.digest(b"key", f"m1.{sent}.".encode() + body, hashlib.sha256)
    signature = "v1," + base64.b64encode(digest).decode()
    return {"Webhook-Id": "m1", "webhook-timestamp": sent, "webhook-signature": f"v1,b3RoZXI= {signature}"}


def test_a_message_of_the_service_is_read() -> None:
    assert verify_webhook(SECRET, headers(), BODY, now=1100) == {"type": "alert"}


@pytest.mark.parametrize(
    ("given", "body", "now"),
    [
        (headers(), b'{"type":"forged"}', 1100.0),
        (headers(), BODY, 1301.0),
        (headers(), BODY, 699.0),
        ({**headers(), "webhook-signature": ""}, BODY, 1000.0),
        ({}, BODY, 1000.0),
    ],
    ids=["another body", "old", "of the future", "without a signature", "without headers"],
)
def test_another_message_is_refused(given: dict[str, str], body: bytes, now: float) -> None:
    with pytest.raises(InvalidWebhook):
        verify_webhook(SECRET, given, body, now=now)
