"""`quotecast keys` and `quotecast plans`, as the real commands on a real PostgreSQL."""

import json
import re
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from quotecast.access import key_text, storage
from quotecast.access.keys import Key
from quotecast.database.database import Database
from support.servers.users_command import command, process
from support.stages.account_service import account_service

PLAN = "sockets = 50\nfeeds = ['market']\n"
UNKNOWN = "0" * 24

Answer = tuple[int | None, str, str]


async def keys(url: str, *arguments: str, plans: str = "") -> Answer:
    return await command(*arguments, of="keys", database_url=url, plans=plans)


async def plans(url: str, *arguments: str, typed: str = "", plans: str = "") -> Answer:
    return await command(*arguments, typed=typed.encode(), of="plans", database_url=url, plans=plans)


async def create(url: str, *options: str, plans: str = "") -> str:
    """Makes a key; returns its text."""
    code, printed, said = await keys(url, "create", "--name", "Lobby", *options, plans=plans)
    assert code == 0, said
    return printed.removesuffix("\n")


async def stored(url: str) -> dict[str, Key]:
    async with Database(url, pool_size=1) as database:
        keys = await database.transaction(partial(storage.page, after="", limit=500))
        return {key.id: key for key in keys}


def id_of(text: str) -> str:
    parsed = key_text.parse(text)
    assert parsed
    return parsed.id


async def listed(url: str) -> list[dict[str, Any]]:
    _, printed, _ = await keys(url, "list", "--json")
    return [json.loads(line) for line in printed.splitlines()]


async def test_key_is_printed_alone_and_once(accounts_url: str) -> None:
    """Scripts take the output; everything else is on the error output, without the secret."""
    code, printed, said = await process("create", "--name", " Lobby ", of="keys", database_url=accounts_url)
    assert code == 0
    assert re.fullmatch(r"qc_live_[0-9a-f]{24}_[\w-]{43}\n", printed)
    parsed = key_text.parse(printed.strip())
    assert parsed
    key = (await stored(accounts_url))[parsed.id]
    assert (key.name, key.plan, key.user_id, key.expires_at) == ("Lobby", "", None, None)
    assert key.secret_hash == key_text.digest(parsed.secret)
    for shown in (said, *(await keys(accounts_url, "list"))[1:], str(await listed(accounts_url))):
        assert parsed.secret not in shown
        assert key.secret_hash not in shown


async def test_key_has_what_the_options_say(accounts_url: str) -> None:
    async with account_service(accounts_url) as service:
        user = await service.register()
    await plans(accounts_url, "set", "partner", "-", typed=PLAN)
    text = await create(
        accounts_url,
        *("--plan", "partner", "--user", "AYSE@example.com", "--expires", "90d"),
        *("--feeds", "stocks,crypto", "--symbols", "AAPL, sector:Energy"),
        *("--origins", "HTTPS://Example.com/", "--addresses", "192.0.2.7/24"),
    )
    key = (await stored(accounts_url))[id_of(text)]
    assert (key.plan, key.user_id) == ("partner", user.id)
    assert key.expires_at == key.created_at + timedelta(days=90)
    (shown,) = await listed(accounts_url)
    assert shown["key"] == text.rpartition("_")[0] or text.startswith(f"{shown['key']}_")
    assert shown["scope"] == {
        "feeds": ["market", "crypto"],
        "symbols": ["AAPL", "sector:Energy"],
        "origins": ["https://example.com"],
        "addresses": ["192.0.2.0/24"],
    }


async def test_time_without_a_zone_is_utc(accounts_url: str) -> None:
    text = await create(accounts_url, "--expires", "2099-03-02")
    assert (await stored(accounts_url))[id_of(text)].expires_at == datetime(2099, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--name", ""), "name: Must not be empty"),
        (("--name", "x", "--plan", "gold"), "There is no plan 'gold': one of user"),
        (("--name", "x", "--user", "nobody@example.com"), "User not found"),
        (("--name", "x", "--expires", "2001-01-01"), "--expires: Must be in the future"),
        (("--name", "x", "--expires", "soon"), "--expires: Must be a number of days such as 90d"),
        (("--name", "x", "--feeds", "bonds"), "--feeds[0]: Must be one of market, crypto, doviz"),
        (("--name", "x", "--symbols", " , "), "--symbols: Name at least one"),
        (("--name", "x", "--origins", "example.com"), "--origins[0]: "),
        (("--name", "x", "--addresses", "home"), "scope.addresses: Must be addresses or networks"),
    ],
)
async def test_wrong_option_makes_no_key(accounts_url: str, options: tuple[str, ...], message: str) -> None:
    code, printed, said = await keys(accounts_url, "create", *options)
    assert (code, printed) == (1, "")
    assert said.startswith(f"quotecast: {message}")
    assert await stored(accounts_url) == {}


async def test_plan_of_the_file_counts(accounts_url: str, tmp_path: Path) -> None:
    """A key gets a plan that exists, by its id or by the beginning of its text."""
    path = tmp_path / "plans.toml"
    path.write_text("[plans.gold]\nsockets = 9\n", "utf-8")
    text = await create(accounts_url, "--plan", "gold", plans=str(path))
    key_id = id_of(text)
    for shown, name in ((key_id, "user"), (f"qc_live_{key_id}", "gold"), (text, "user")):
        code, printed, said = await keys(accounts_url, "plan", shown, name, plans=str(path))
        assert (code, printed) == (0, "")
        assert f"qc_live_{key_id} has the plan {name}" in said
        assert (await stored(accounts_url))[key_id].plan == ("" if name == "user" else name)
    code, _, said = await keys(accounts_url, "plan", key_id, "gold")
    assert (code, "There is no plan 'gold'" in said) == (1, True)


async def test_key_is_revoked_once(accounts_url: str) -> None:
    """A second revocation keeps the time of the first."""
    key_id = id_of(await create(accounts_url))
    for _ in range(2):
        code, printed, said = await keys(accounts_url, "revoke", key_id)
        assert (code, printed, f"qc_live_{key_id} is revoked" in said) == (0, "", True)
        revoked = (await stored(accounts_url))[key_id].revoked_at
        assert revoked
    assert revoked == datetime.fromisoformat((await listed(accounts_url))[0]["revoked_at"])


@pytest.mark.parametrize("key_id", [UNKNOWN, "x", "qc_live_"])
async def test_unknown_key_is_an_error(accounts_url: str, key_id: str) -> None:
    for arguments in (("revoke", key_id), ("plan", key_id, "user")):
        assert await keys(accounts_url, *arguments) == (1, "", "quotecast: API key not found\n")


async def test_keys_are_listed_in_columns(accounts_url: str) -> None:
    """The oldest comes first; the name comes last, without what a terminal interprets."""
    async with account_service(accounts_url) as service:
        user = await service.register()
        await user.post("/api/keys", {"name": "Mine"})
    ended = id_of(await create(accounts_url))
    await keys(accounts_url, "revoke", ended)
    code, printed, said = await keys(accounts_url, "list")
    mine, other = [line.split() for line in printed.splitlines()]
    assert (code, said) == (0, "")
    assert mine[3:] == ["active", "user", user.id, "Mine"]
    assert (other[0], other[3:]) == (ended, ["revoked", "user", "operator", "Lobby"])


async def test_plan_is_stored_shown_and_deleted(accounts_url: str, tmp_path: Path) -> None:
    """Stored again it is replaced; what is shown can be stored."""
    path = tmp_path / "partner.toml"
    path.write_text(f"[plans.partner]\n{PLAN}", "utf-8")
    code, printed, _ = await plans(accounts_url, "set", "partner", str(path))
    assert (code, printed) == (0, "Plan partner is stored; workers follow within a second\n")
    _, shown, _ = await plans(accounts_url, "show", "partner")
    assert shown.startswith("[plans.partner]\nsockets = 50\n")
    await plans(accounts_url, "set", "second", "-", typed=shown.replace("partner", "second"))
    _, table, _ = await plans(accounts_url, "list")
    assert table.splitlines() == [
        "anonymous  unbounded",
        "partner    stored",
        "second     stored",
        "user       unbounded",
    ]
    _, printed, _ = await plans(accounts_url, "list", "--json")
    assert json.loads(printed.splitlines()[1]) == {
        "name": "partner",
        "place": "stored",
        "hides_stored": False,
    }
    _, printed, _ = await plans(accounts_url, "show", "partner", "--json")
    assert (json.loads(printed)["name"], json.loads(printed)["sockets"]) == ("partner", 50)
    code, _, said = await plans(accounts_url, "delete", "second")
    assert (code, said) == (0, "")
    code, _, said = await plans(accounts_url, "delete", "second")
    assert (code, said) == (1, "quotecast: No plan 'second' is stored\n")
    code, _, said = await plans(accounts_url, "show", "second")
    assert (code, "There is no plan 'second'" in said) == (1, True)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("partner", "sockts = 1", "sockts: There is no such field"),
        ("partner", "[plans.other]", "The file has no table [plans.partner]"),
        ("Partner", "", "A plan's name has 1 to 40 of a-z, 0-9 and -"),
        ("anonymous", "", "plan: anonymous belongs in the file of plans"),
    ],
)
async def test_bad_plan_is_not_stored(accounts_url: str, name: str, text: str, message: str) -> None:
    code, printed, said = await plans(accounts_url, "set", name, "-", typed=text)
    assert (code, printed) == (1, "")
    assert said.startswith(f"quotecast: {message}")


async def test_file_of_plans_is_checked_without_a_database(tmp_path: Path) -> None:
    path = tmp_path / "plans.toml"
    path.write_text("[plans.user]\nsockets = 5\n[plans.gold]\n", "utf-8")
    answer = await command("check", str(path), of="plans", data_dir=str(tmp_path))
    assert answer == (0, f"{path} is good: it has user, gold\n", "")
    path.write_text("[plans.user]\nsockets = -5\n", "utf-8")
    code, printed, said = await command("check", str(path), of="plans", data_dir=str(tmp_path))
    assert (code, printed) == (1, "")
    assert said == f"quotecast: {path}: plans.user.sockets: Must be at least 1\n"


async def test_plan_of_the_file_hides_a_stored_one(accounts_url: str, tmp_path: Path) -> None:
    path = tmp_path / "plans.toml"
    path.write_text("[plans.partner]\nsockets = 5\n", "utf-8")
    _, printed, _ = await plans(accounts_url, "set", "partner", "-", typed=PLAN, plans=str(path))
    assert "has a plan of this name, which goes before the stored one" in printed
    _, table, _ = await plans(accounts_url, "list", plans=str(path))
    assert "partner    file, hides a stored one" in table
    assert "sockets = 5\n" in (await plans(accounts_url, "show", "partner", plans=str(path)))[1]


async def test_database_without_tables_is_named(database_url: str) -> None:
    for of in ("keys", "plans"):
        code, _, said = await command("list", of=of, database_url=database_url)
        assert (code, said) == (1, "quotecast: The database has no tables yet: run `quotecast migrate`\n")
