"""Every operation's answers bear the headers that keep them what they are."""

from typing import Any

import httpx

from whole_service import Whole

ACCOUNTS = ("/api/auth", "/api/portfolio", "/api/watchlist", "/api/terminal")


def operations(whole: Whole) -> list[tuple[str, str]]:
    document: dict[str, Any] = whole.service.get("/api/openapi.json").json()
    return [(method, path) for path, item in document["paths"].items() for method in item]


def test_every_answer_is_guarded(whole: Whole) -> None:
    """Its type is not guessed, no page frames it, and of what is a user's no copy is kept."""
    with httpx.Client(base_url=whole.service.url, timeout=20) as client:
        for method, path in operations(whole):
            answer = client.request(method, path.replace("{symbol}", "AAPL"))
            assert answer.status_code < 500 or answer.status_code == 503, (method, path)
            assert answer.headers["x-content-type-options"] == "nosniff", (method, path)
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"], (method, path)
            assert answer.headers["x-request-id"], (method, path)
            if path.startswith(ACCOUNTS):
                assert answer.headers["cache-control"] == "no-store", (method, path)
                assert "access-control-allow-origin" not in answer.headers, (method, path)
