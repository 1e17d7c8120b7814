"""The terminal's layout, over a real PostgreSQL."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.stages.account_service import AccountService, User

LAYOUT = "/api/terminal/layout"
SAVED = "2026-11-20T15:30:00.000Z"

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


async def put(user: User, body: str | bytes) -> Any:
    return await user.ask("PUT", LAYOUT, content=body)


async def test_a_new_user_has_an_empty_layout(user: User) -> None:
    """A new user has an empty layout, never 404."""
    assert (await user.get(LAYOUT)).json() == {"layout": {}, "version": 0, "updated_at": None}


async def test_a_layout_is_saved_and_given_back(user: User) -> None:
    """Each save increments the version, with or without `version` in the request."""
    first = await user.ask("PUT", LAYOUT, json={"layout": {"a": 1}, "version": 0})
    assert first.json() == {"layout": {"a": 1}, "version": 1, "updated_at": SAVED}
    second = await user.ask("PUT", LAYOUT, json={"layout": {"b": 2}})
    assert second.json() == {"layout": {"b": 2}, "version": 2, "updated_at": SAVED}
    assert (await user.get(LAYOUT)).content == second.content


@pytest.mark.parametrize("version", [0, 2, 2**31 - 1])
async def test_another_version_is_stale(user: User, version: int) -> None:
    """A wrong version is 409 that names the current one, and changes nothing."""
    await user.ask("PUT", LAYOUT, json={"layout": {"a": 1}})
    stale = await user.ask("PUT", LAYOUT, json={"layout": {}, "version": version})
    assert (stale.status_code, stale.json()["code"]) == (409, "stale_version")
    assert "version 1" in stale.json()["detail"]
    assert (await user.get(LAYOUT)).json()["layout"] == {"a": 1}


async def test_of_many_savers_at_once_one_wins(user: User) -> None:
    """Of concurrent saves with one version exactly one succeeds."""
    for version in (0, 1):
        bodies = [{"layout": {"saver": saver}, "version": version} for saver in range(10)]
        answers = await asyncio.gather(*(user.ask("PUT", LAYOUT, json=body) for body in bodies))
        assert sorted(answer.status_code for answer in answers) == [200] + [409] * 9
        [winner] = [answer for answer in answers if answer.status_code == 200]
        assert (await user.get(LAYOUT)).content == winner.content


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(), values, max_size=5), st.booleans())
async def test_any_object_survives_letter_by_letter(
    user: User,
    layout: dict[str, Any],
    ascii_only: bool,  # noqa: FBT001 - drawn
) -> None:
    """A layout keeps its text letter by letter."""
    text = json.dumps(layout, ensure_ascii=ascii_only)
    saved = await put(user, f'{{"layout": {text} }}')
    assert saved.status_code == 200, saved.text
    assert f'"layout":{text},' in (await user.get(LAYOUT)).text


@pytest.mark.parametrize(
    "text",
    [
        r'{"nul":"\u0000"}',
        '{"twice":1,"twice":2}',
        '{"big":1e999,"long":1234567890123456789012345678901234567890123456789012345678901234567890}',
        r'{"horse":"\ud83d\udc34","plain":"🐴"}',
        '{ "spaced" : [ 1.0 , -0.0 ] }',
    ],
)
async def test_odd_json_survives(user: User, text: str) -> None:
    assert (await put(user, f'{{"layout":{text}}}')).status_code == 200
    assert f'"layout":{text},' in (await user.get(LAYOUT)).text


@pytest.mark.parametrize("text", ["[]", "1", "null", '"{}"', "true"])
async def test_only_objects_are_layouts(user: User, text: str) -> None:
    response = await put(user, f'{{"layout":{text}}}')
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "layout")


@pytest.mark.parametrize(
    "body",
    [
        b'{"layout":{"a":NaN}}',
        b'{"layout":{"a":"\x01"}}',
        b'{"layout":{"a":"\xff"}}',
        rb'{"layout":{"a":"\ud800"}}',
        rb'{"layout":{"a":"\x"}}',
        b'{"layout":{"a":01}}',
        b'{"layout":{"a" 1}}',
        b'{"layout":{"a":1,}}',
        b'{"layout":{}',
        b"",
        b'\xef\xbb\xbf{"layout":{}}',
        b'{"layout":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}",
    ],
)
async def test_what_is_no_json_is_refused(user: User, body: bytes) -> None:
    """Malformed JSON is 400, and nothing is stored."""
    response = await put(user, body)
    assert (response.status_code, response.json()["detail"]) == (400, "Malformed JSON")
    assert (await user.get(LAYOUT)).json()["version"] == 0


@pytest.mark.parametrize(("depth", "status"), [(32, 200), (33, 422)])
async def test_a_layout_has_at_most_32_levels(user: User, depth: int, status: int) -> None:
    """A layout has at most 32 levels of objects and arrays, itself included."""
    for opening, closing in (('{"a":', "}"), ("[", "]")):
        inner = opening * (depth - 1) + "1" + closing * (depth - 1)
        assert (await put(user, f'{{"layout":{{"a":{inner}}}}}')).status_code == status


@pytest.mark.parametrize(("size", "status"), [(65_536, 200), (65_537, 413), (81_921, 413)])
async def test_a_layout_has_at_most_64_kilobytes(user: User, size: int, status: int) -> None:
    """A layout has at most 64 KB of UTF-8."""
    layout = '{"a":"' + "ş" * ((size - 8) // 2) + "x" * (size % 2) + '"}'
    assert len(layout.encode()) == size
    response = await put(user, f'{{"layout":{layout}}}')
    assert response.status_code == status
    assert status == 200 or response.json()["detail"] == "Payload Too Large"


@pytest.mark.parametrize("version", [-1, 1.5, "0", True, 2**31])
async def test_a_version_is_a_small_number(user: User, version: object) -> None:
    response = await user.ask("PUT", LAYOUT, json={"layout": {}, "version": version})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "version")


async def test_users_do_not_see_each_other(service: AccountService, user: User) -> None:
    other = await service.register("other@example.com")
    await user.ask("PUT", LAYOUT, json={"layout": {"mine": True}, "version": 0})
    assert (await other.get(LAYOUT)).json()["version"] == 0
    assert (await other.ask("PUT", LAYOUT, json={"layout": {"theirs": 1}, "version": 0})).status_code == 200
    assert (await user.get(LAYOUT)).json()["layout"] == {"mine": True}
