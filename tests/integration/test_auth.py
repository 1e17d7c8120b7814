"""Register, log in and the profile, over a real PostgreSQL."""

from account_service import account_service


async def test_who_registers_is_logged_in(accounts_url: str) -> None:
    """The answer bears a token that opens the profile."""
    async with account_service(accounts_url) as service:
        user = await service.register()
        response = await user.get("/api/auth/profile")
        assert response.status_code == 200
        assert response.json() == {"id": user.id, "name": "Ayşe", "email": "ayse@example.com"}
        assert response.headers["cache-control"] == "no-store"
