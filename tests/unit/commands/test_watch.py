"""`quotecast watch` before it shows anything: its address, its extra, and names that no feed has."""

import contextlib
import importlib
import json
from argparse import Namespace
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace

from quotecast.commands import watch
from quotecast.commands.watching import session
from quotecast.commands.watching.names import complaint, look_up
from quotecast.errors import SettingsError
from quotecast.feed.commands import INTERVALS
from quotecast.market.quotes import Quote
from quotecast.settings import loading
from quotecast_client import Client
from support.made.market import doviz, pair, stock
from support.servers.reserved import port_number, reserve_port

SETTINGS = loading.load({})


class FakeClient:
    """A service with some quotes of each feed."""

    def __init__(self) -> None:
        made: list[Quote] = [
            stock("AAPL"),
            stock("XOM"),
            pair(),
            doviz("USD"),
            doviz("akbank-USD"),
            doviz("gram-altin"),
        ]
        self._quotes = {quote.key: msgspec.to_builtins(quote) for quote in made}

    def quotes(self, asked: list[str]) -> dict[str, Any]:
        if asked == ["market:all"]:
            return {key: quote for key, quote in self._quotes.items() if quote["type"] == "stock_quote"}
        if asked == ["doviz:all"]:
            return {key: quote for key, quote in self._quotes.items() if quote["type"] == "doviz_quote"}
        spelled = {key.casefold(): quote for key, quote in self._quotes.items()}
        return {name: spelled[name.casefold()] for name in asked if name.casefold() in spelled}

    def search(self, text: str, limit: int) -> list[dict[str, str]]:
        assert limit
        found = [key for key in self._quotes if key.casefold().startswith(text.casefold())]
        return [{"ticker": key, "name": self._quotes[key]["name"]} for key in found]


CLIENT = cast("Client", FakeClient())


def test_quotes_come_in_the_order_of_the_names() -> None:
    found, unknown = look_up(CLIENT, ["gram-altin", "aapl", "btc/usdt", "AAPL"])
    assert [(each.feed, each.symbol) for each in found] == [
        ("doviz", "gram-altin"),
        ("market", "AAPL"),
        ("crypto", "BTC/USDT"),
    ]
    assert unknown == []


@pytest.mark.parametrize(
    ("name", "symbols"),
    [("sector:energy", ["AAPL", "XOM"]), ("bank:akbank", ["akbank-USD"]), ("stocks:all", ["AAPL", "XOM"])],
)
def test_groups_are_their_members(name: str, symbols: list[str]) -> None:
    found, unknown = look_up(CLIENT, [name])
    assert [each.symbol for each in found] == symbols
    assert unknown == []


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("AAPX", "No feed has AAPX; did you mean AAPL (AAPL Inc.)?"),
        ("BTC/XYZ", "No feed has BTC/XYZ; did you mean BTC/USDT (BTC/USDT)?"),
        ("QQQ", "No feed has QQQ"),
        ("bank:foo", "There is no group bank:foo; there are bank:akbank"),
    ],
)
def test_an_unknown_name_is_named_with_what_it_may_mean(name: str, line: str) -> None:
    found, unknown = look_up(CLIENT, ["AAPL", name])
    assert [each.symbol for each in found] == ["AAPL"]
    assert unknown == [name]
    assert complaint(CLIENT, unknown) == line


@pytest.mark.parametrize(
    ("given", "settings", "places"),
    [
        (None, {}, ["http://127.0.0.1:8000", None]),
        (None, {"host": "0.0.0.0"}, ["http://127.0.0.1:8000", None]),  # noqa: S104 - a setting
        (None, {"host": "::", "feed_port": 8001}, ["http://[::1]:8000", "ws://[::1]:8001/api/ws"]),
        ("https://quotes.example.com/", {"feed_port": 8001}, ["https://quotes.example.com", None]),
        ("box:9000", {}, ["http://box:9000", None]),
    ],
)
def test_the_address_is_the_local_service_or_the_given_one(
    monkeypatch: pytest.MonkeyPatch, given: str | None, settings: dict[str, Any], places: list[str | None]
) -> None:
    seen: list[Any] = []

    def note(_symbols: list[str], *places: Any, **_more: Any) -> int:
        seen.extend(places)
        return 0

    monkeypatch.setattr(session, "watch", note)
    arguments = Namespace(symbols=["AAPL"], url=given, interval=250, once=False, json=False)
    assert watch.run(replace(SETTINGS, **settings), arguments) == 0
    assert seen == places


def test_an_address_of_another_kind_is_refused() -> None:
    with pytest.raises(SettingsError, match="--url: ftp://x is not an address"):
        watch.run(SETTINGS, Namespace(symbols=["AAPL"], url="ftp://x", interval=250, once=False, json=False))


@pytest.mark.parametrize("missing", ["rich.live", "quotecast_client"])
def test_a_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    def fail(_name: str) -> None:
        raise ModuleNotFoundError(name=missing)

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(SettingsError, match=r"pip install 'quotecast\[watch\]'"):
        watch.run(SETTINGS, Namespace(symbols=["AAPL"], url=None, interval=250, once=False))


def test_a_fault_of_our_own_is_not_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_name: str) -> None:
        raise ModuleNotFoundError(name="quotecast.gone")

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(ModuleNotFoundError):
        watch.run(SETTINGS, Namespace(symbols=["AAPL"], url=None, interval=250, once=False))


def test_quotes_can_be_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """All their fields, a line for each."""
    monkeypatch.setattr(session, "Client", lambda *_, **__: contextlib.nullcontext(CLIENT))
    address = "http://127.0.0.1:8000"
    assert session.watch(["AAPL", "USD"], address, None, interval=250, once=True, as_json=True) == 0
    apple, dollar = map(json.loads, capsys.readouterr().out.splitlines())
    assert (apple["type"], apple["ticker"], dollar["symbol"]) == ("stock_quote", "AAPL", "USD")


def test_the_intervals_are_those_of_the_feeds(capsys: pytest.CaptureFixture[str]) -> None:
    """The command line names them without an import of the feeds."""
    main = importlib.import_module("quotecast.__main__")
    with pytest.raises(SystemExit):
        main.main(["watch", "AAPL", "--interval", "7"])
    assert ", ".join(map(str, INTERVALS)) in capsys.readouterr().err


def test_no_service_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.closing(reserve_port()) as reserved:  # bound, and not listening
        address = f"http://127.0.0.1:{port_number(reserved)}"
        assert session.watch(["AAPL"], address, None, interval=250, once=True, as_json=False) == 1
    assert capsys.readouterr().err.startswith(f"quotecast: No quotecast answers at {address}: ")
