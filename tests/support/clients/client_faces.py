"""Both faces of the Python client in tests."""

from functools import partial

import httpx
import pytest

import quotecast_client._async.io
import quotecast_client._sync.io


def skip_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes clients without the certificates of authorities, which take most of the time of a test."""
    monkeypatch.setattr(quotecast_client._sync.io, "Http", partial(httpx.Client, verify=False))
    monkeypatch.setattr(quotecast_client._async.io, "Http", partial(httpx.AsyncClient, verify=False))
