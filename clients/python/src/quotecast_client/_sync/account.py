# Made by scripts/make_sync.py from _async; not to be edited.
"""The user of the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quotecast_client.calls import Call, without_none
from quotecast_client.rest_types import Profile, Session

if TYPE_CHECKING:
    from typing import Any

    from quotecast_client._sync.http import Http


class Account:
    """Registers a user, logs in and out. The client sends the token of the user with each request."""

    def __init__(self, http: Http) -> None:
        self._http = http

    @property
    def token(self) -> str | None:
        """The token of the user, to store and to give to another client; None without a user."""
        return self._http.token

    def register(self, name: str, email: str, password: str) -> Session:
        """Makes an account, and logs in."""
        return self._enter("/api/auth/register", {"name": name, "email": email, "password": password})

    def login(self, email: str, password: str) -> Session:
        """Logs in. Raises Unauthorized for a wrong email or password."""
        return self._enter("/api/auth/login", {"email": email, "password": password})

    def logout(self) -> None:
        """Ends the session of the token, which is void from then on."""
        self._http.send(Call[None]("DELETE", "/api/auth/sessions/current"))
        self._http.token = None

    def profile(self) -> Profile:
        """Returns the user."""
        return self._http.send(Call[Profile]("GET", "/api/auth/profile"))

    def change_profile(self, *, name: str | None = None, end_sessions: bool | None = None) -> Profile:
        """Changes the name, or ends all sessions of the user, also this one."""
        body = without_none(name=name, end_sessions=end_sessions)
        return self._http.send(Call[Profile]("PATCH", "/api/auth/profile", body=body))

    def change_password(self, current: str, new: str) -> Session:
        """Changes the password, which ends all other sessions."""
        return self._enter("/api/auth/password", {"current": current, "new": new})

    def delete(self, password: str) -> None:
        """Deletes the user with everything stored for the user."""
        self._http.send(Call[None]("DELETE", "/api/auth/profile", body={"password": password}))
        self._http.token = None

    def _enter(self, at: str, body: dict[str, Any]) -> Session:
        session = self._http.send(Call[Session]("POST", at, body=body))
        self._http.token = session["token"]
        return session
