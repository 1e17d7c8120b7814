"""The checks of `quotecast doctor`."""

import json
import re
import socket
from collections.abc import Iterator
from importlib import metadata
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
import structlog
from msgspec.structs import replace

from quotecast.commands import doctor
from quotecast.errors import SettingsError
from quotecast.local import folder
from quotecast.providers.offer import Terms
from quotecast.providers.offers import TERMS
from quotecast.settings.loading import load
from quotecast.settings.model import Settings, variable_names
from support.servers.reserved import port_number, reserve_port


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in variable_names():
        monkeypatch.delenv(name, raising=False)
    yield
    structlog.reset_defaults()


@pytest.fixture
def free_port() -> Iterator[int]:
    with reserve_port() as held:
        yield port_number(held)


def test_packages_with_another_version_than_the_tested_one_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolver without the lock may install newer ones; missing extras are no difference."""
    assert doctor.untested_packages() == ""
    versions = {"httpx": "0.27.9"}

    def version(name: str) -> str:
        if name == "mcp":
            raise PackageNotFoundError
        return versions.get(name) or metadata.version(name)

    monkeypatch.setattr(doctor, "version", version)
    assert re.fullmatch(r"httpx 0\.27\.9 \(tested with 0\.\d+\.\d+\)", doctor.untested_packages())


def test_results_can_be_json(tmp_path: Path, free_port: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each result, with its status for scripts."""
    (tmp_path / "file").touch()
    assert doctor.examine(Settings(data_dir=tmp_path / "file" / "data", port=free_port), as_json=True) == 1
    rows = list(map(json.loads, capsys.readouterr().out.splitlines()))
    found = {row["name"]: (row["status"], row["text"]) for row in rows if row["name"]}
    assert found["port"] == ("ok", f"{free_port} on 127.0.0.1 is free, for 1 API workers")
    assert found["data folder"][0] == "fails"
    assert {row["status"] for row in rows} >= {"about", "set", "ok", "fails", "note"}


def test_a_sound_installation_passes(
    tmp_path: Path, free_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output names the embedded servers and the simulated groups."""
    assert (
        doctor.examine(Settings(data_dir=tmp_path, port=free_port, crypto=("coinbase",), doviz="none")) == 0
    )
    said = capsys.readouterr().out
    assert "        stocks     simulated\n" in said
    assert "        crypto     live from coinbase\n" in said
    assert "        doviz      off\n" in said
    assert f"ok      data folder: {tmp_path} can be written" in said
    assert f"ok      port: {free_port} on 127.0.0.1 is free" in said
    assert f"ok      mcp: workers serve tools for language models on http://127.0.0.1:{free_port}/mcp" in said
    assert "ok      postgres: embedded, PostgreSQL 18." in said
    assert "ok      redis: embedded, Valkey " in said
    assert "note    production would refuse QUOTECAST_DATABASE_URL: " in said


def test_a_taken_port_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The port is taken even if its owner would share it."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert doctor.examine(Settings(data_dir=tmp_path, port=port)) == 1
    said = capsys.readouterr().out
    assert f"FAILS   port: Port {port} on 127.0.0.1 is taken; set QUOTECAST_PORT to another" in said


def test_a_data_folder_in_use_fails(
    tmp_path: Path, free_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two `up` on one folder would share the files of its databases."""
    with folder.hold_folder(tmp_path):
        assert doctor.examine(Settings(data_dir=tmp_path, port=free_port)) == 1
    assert f"FAILS   data folder: Another `quotecast up` uses {tmp_path}" in capsys.readouterr().out


def test_a_data_folder_that_cannot_be_written_fails(
    tmp_path: Path, free_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A path below a file is an example."""
    (tmp_path / "file").touch()
    assert doctor.examine(Settings(data_dir=tmp_path / "file" / "data", port=free_port)) == 1
    assert "FAILS   data folder: QUOTECAST_DATA_DIR: cannot write in" in capsys.readouterr().out


def test_given_servers_are_asked(
    tmp_path: Path, free_port: int, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reachable server shows its version; an unreachable one fails the check without its password."""
    settings = Settings(
        data_dir=tmp_path,
        port=free_port,
        redis_url=redis_url,
        database_url="postgresql://user:hidden@127.0.0.1:1/quotes",
    )
    assert doctor.examine(settings) == 1
    said = capsys.readouterr().out
    assert "ok      redis: Valkey " in said
    assert "FAILS   postgres: PostgreSQL at 127.0.0.1:1 does not answer" in said
    assert "hidden" not in said


def test_settings_are_shown_without_their_secrets(
    tmp_path: Path, free_port: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output repeats settings literally, except for passwords."""
    monkeypatch.setenv("QUOTECAST_WORKERS", "3")
    monkeypatch.setenv("QUOTECAST_REDIS_URL", "redis://user:hidden@cache:6379/0")
    doctor.examine(Settings(data_dir=tmp_path, port=free_port))
    said = capsys.readouterr().out
    assert "QUOTECAST_WORKERS=3\n" in said
    assert "QUOTECAST_REDIS_URL=redis://user:***@cache:6379/0\n" in said
    assert "hidden" not in said


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("QUOTECAST_DATABASE_URL", "postgresql://u:p%40ss@host/db", "postgresql://u:***@host/db"),
        ("QUOTECAST_REDIS_URL", "redis://:secret@host", "redis://:***@host"),
        ("QUOTECAST_REDIS_URL", "redis://host:6379", "redis://host:6379"),
        ("QUOTECAST_DATABASE_URL", "postgresql://u:p@ss:w@host/db", "postgresql://u:***@host/db"),
        ("QUOTECAST_DATABASE_URL", "postgresql:///db?password=hidden", "postgresql:///db?password=***"),
        ("QUOTECAST_FINNHUB_KEY", "abc", "***"),
        ("QUOTECAST_JWT_SECRET", "abc", "***"),
    ],
)
def test_secrets_are_masked(name: str, value: str, shown: str) -> None:
    """It masks passwords within URLs, and whole values of settings with a secret's name."""
    assert doctor.mask_secrets(name, value) == shown


def test_file_of_plans_is_named(tmp_path: Path, free_port: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A bad one fails with its place; the settings refuse it before any command runs."""
    path = tmp_path / "plans.toml"
    path.write_text("[plans.user]\n[plans.partner]\nsockets = 9\n", "utf-8")
    doctor.examine(Settings(data_dir=tmp_path, port=free_port))
    assert "ok      plans: no file" in capsys.readouterr().out
    doctor.examine(Settings(data_dir=tmp_path, port=free_port, plans=str(path)))
    assert f"ok      plans: {path} has user, partner\n" in capsys.readouterr().out
    path.write_text("[plans.partner]\nsockts = 9\n", "utf-8")
    problem = f"{path}: plans.partner.sockts: There is no such field"
    assert doctor.examine(Settings(data_dir=tmp_path, port=free_port, plans=str(path))) == 1
    assert f"FAILS   plans: {problem}\n" in capsys.readouterr().out
    with pytest.raises(SettingsError) as refused:
        load({"QUOTECAST_PLANS": str(path)})
    assert str(refused.value) == f"QUOTECAST_PLANS: {problem}"


def test_plans_that_show_what_the_terms_forbid_are_noted(
    tmp_path: Path, free_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The note names plan, group, provider and source; a plan without the feed is in order."""
    path = tmp_path / "plans.toml"
    path.write_text(
        '[plans.anonymous]\nfeeds = ["doviz"]\ndoors = ["sse"]\n[plans.partner]\nfreshness = "delayed"\n',
        "utf-8",
    )
    settings = Settings(
        data_dir=tmp_path,
        port=free_port,
        plans=str(path),
        delay_seconds=900,
        stocks="alpaca",
        doviz="truncgil",
    )
    assert doctor.examine(settings) == 0
    notes = [line for line in capsys.readouterr().out.splitlines() if "terms: " in line]
    terms = TERMS["alpaca"]
    said = f"whose terms say: {terms.summary} ({terms.source})"
    assert notes == [f"note    terms: plan partner shows others stocks of alpaca, {said}"]


def test_requests_without_a_key_are_a_plan_in_production() -> None:
    """Nothing bounds them without a file; in development they are the operator's own."""
    chosen = Settings(mode="production", crypto=("binance", "kraken"), financials="finnhub")
    noted = [line.partition(",")[0] for line in doctor.breaches(chosen)]
    assert noted == [
        "plan anonymous shows others crypto of binance",
        "plan anonymous shows others crypto of kraken",
        "plan anonymous shows others financials of finnhub",
    ]
    assert not [*doctor.breaches(replace(chosen, mode="development"))]
    assert not [*doctor.breaches(Settings(mode="production"))]


def test_a_plan_without_stocks_has_no_company_data(tmp_path: Path) -> None:
    path = tmp_path / "plans.toml"
    path.write_text('[plans.anonymous]\nfeeds = ["crypto"]\n', "utf-8")
    assert not [*doctor.breaches(Settings(financials="finnhub", plans=str(path)))]


def test_a_delay_that_the_terms_allow_is_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shorter delay, or none, is not."""
    terms = Terms(show="no", delay_minutes=15, summary="late for all")
    monkeypatch.setattr(doctor, "terms_of", {"alpaca": terms, "simulator": None}.__getitem__)
    path = tmp_path / "plans.toml"
    path.write_text('[plans.anonymous]\nfreshness = "delayed"\n[plans.live]\n', "utf-8")

    def noted(delay_seconds: int) -> list[str]:
        settings = Settings(stocks="alpaca", plans=str(path), delay_seconds=delay_seconds)
        return [line.split()[1] for line in doctor.breaches(settings)]

    assert noted(900) == ["live"]
    assert noted(899) == ["anonymous", "live"]
