"""Changes of a holding, over a real PostgreSQL."""

from typing import Any

import pytest

from support.made.holdings import BOUGHT, HOLDINGS
from support.stages.account_service import AccountService, User


async def change(user: User, holding: str, body: Any) -> Any:
    return await user.ask("PATCH", f"{HOLDINGS}/{holding}", json=body)


@pytest.mark.parametrize(
    "given",
    [
        {"shares": 3.25},
        {"avg_cost": 0},
        {"bought_at": "2025-01-02"},
        {"currency": "try"},
        {"shares": 1e-8, "avg_cost": 1.5, "bought_at": "1900-01-01", "currency": "EUR"},
    ],
)
async def test_any_of_four_fields_change(user: User, given: dict[str, Any]) -> None:
    """The other fields, the id and the user's other holdings stay as they are."""
    first = (await user.post(HOLDINGS, BOUGHT)).json()
    second = (await user.post(HOLDINGS, BOUGHT)).json()
    response = await change(user, first["id"], given)
    expected = first | given | {"currency": given.get("currency", "USD").upper()}
    assert (response.status_code, response.json()) == (200, expected)
    listed = {each["id"]: each for each in (await user.get(HOLDINGS)).json()}
    assert listed == {first["id"]: expected, second["id"]: second}


async def test_changed_amounts_are_exact(user: User) -> None:
    holding = (await user.post(HOLDINGS, BOUGHT)).json()["id"]
    body = b'{"shares": 999999999999.12345678}'
    response = await user.ask("PATCH", f"{HOLDINGS}/{holding}", content=body)
    assert b'"shares":999999999999.12345678,' in response.content


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "shares"),
        ({"ticker": "MSFT"}, "shares"),
        ({"shares": 0}, "shares"),
        ({"shares": "1"}, "shares"),
        ({"shares": None}, "shares"),
        ({"avg_cost": -1}, "avg_cost"),
        ({"avg_cost": 1e-9}, "avg_cost"),
        ({"bought_at": "2030-01-01"}, "bought_at"),
        ({"bought_at": None}, "bought_at"),
        ({"currency": "XXX"}, "currency"),
        ({"currency": "GBp"}, "currency"),
        ({"shares": 5, "currency": "TL"}, "currency"),
    ],
)
async def test_a_bad_change_is_named_and_changes_nothing(user: User, body: Any, field: str) -> None:
    holding = (await user.post(HOLDINGS, BOUGHT)).json()
    response = await change(user, holding["id"], body)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)
    assert (await user.get(HOLDINGS)).json() == [holding]


async def test_only_the_owner_changes_a_holding(service: AccountService, user: User) -> None:
    """Another user's holding and one that does not exist are both 404."""
    other = await service.register("other@example.com")
    holding = (await user.post(HOLDINGS, BOUGHT)).json()
    for holding_id in (holding["id"], "0" * 24, "nonsense", holding["id"].upper()):
        refused = await change(other, holding_id, {"shares": 1})
        assert (refused.status_code, refused.json()["detail"]) == (404, "Holding not found")
    assert (await user.get(HOLDINGS)).json() == [holding]
