"""Every operation's answers have the security headers."""

from typing import Any

import httpx

from support.runs.deadlines import scaled
from support.servers.whole_service import Whole

#: Account routes without a token: they issue one.
ENTRANCES = ("/api/auth/login", "/api/auth/register")


def operations(whole: Whole) -> list[tuple[str, str, bool]]:
    """Returns method, path and whether the answer belongs to one user."""
    document: dict[str, Any] = whole.service.get("/api/openapi.json").json()
    return [
        # `{}` makes an API key optional.
        (method, path, {} not in (operation["security"] or [{}]) or path in ENTRANCES)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]


def test_every_answer_has_security_headers(whole: Whole) -> None:
    """Answers set nosniff and deny framing; answers of a user's data set no-store."""
    with httpx.Client(base_url=whole.service.url, timeout=scaled(20)) as client:
        for method, path, private in operations(whole):
            answer = client.request(method, path.replace("{symbol}", "AAPL"))
            assert answer.status_code < 500 or answer.status_code == 503, (method, path)
            assert answer.headers["x-content-type-options"] == "nosniff", (method, path)
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"], (method, path)
            assert answer.headers["x-request-id"], (method, path)
            if private:
                assert answer.headers["cache-control"] == "no-store", (method, path)
                assert "access-control-allow-origin" not in answer.headers, (method, path)
