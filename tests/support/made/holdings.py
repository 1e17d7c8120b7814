"""Tests of the portfolio share one holding and its route."""

import httpx

from support.stages.account_service import User

HOLDINGS = "/api/portfolio/holdings"
BOUGHT = {"ticker": "AAPL", "shares": 2, "avg_cost": 90.5, "bought_at": "2026-03-02", "currency": "USD"}


async def send(user: User, body: str, **headers: str) -> httpx.Response:
    return await user.ask("POST", HOLDINGS, content=body, headers=headers)
