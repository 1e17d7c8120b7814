"""The streams of a simulated Alpaca."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from quotecast.simulation.market.hours import milliseconds
from quotecast.simulation.market.scenarios.base import Alteration, Pause, Scenario, Spoil
from quotecast.simulation.market.scenarios.connections import Maintenance, RateLimited
from quotecast.simulation.market.scenarios.schedule import Planned
from quotecast.simulation.vendors.market import utc
from support.servers.alpaca_simulated import KEYS, MSGPACK, START, SimulatedAlpaca, simulated_alpaca

AUTHENTICATED = {"T": "success", "msg": "authenticated"}


@pytest.fixture
async def alpaca() -> AsyncIterator[SimulatedAlpaca]:
    async with simulated_alpaca() as alpaca:
        yield alpaca


async def test_keys_log_in_by_message_or_by_header(alpaca: SimulatedAlpaca) -> None:
    """Any key pair is accepted; a second login is an error that does not close the connection."""
    async with alpaca.client() as client:
        assert await client.log_in("my key", "my secret") == AUTHENTICATED
        await client.send(action="auth", key="my key", secret="my secret")
        assert await client.error() == (403, "already authenticated")
    async with alpaca.client(**KEYS) as client:
        assert await client.receive() == [AUTHENTICATED]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ({"action": "auth", "key": "", "secret": "s"}, 402),
        ({"action": "auth", "key": "key"}, 402),
        ({"action": "auth", "key": 7, "secret": ["x"]}, 402),
        ({"action": "subscribe", "trades": ["AAPL"]}, 401),
        ({}, 400),
    ],
)
async def test_client_without_keys_is_sent_away(
    alpaca: SimulatedAlpaca, command: dict[str, Any], code: int
) -> None:
    async with alpaca.client() as client:
        await client.send(**command)
        assert (await client.error())[0] == code
        with pytest.raises(ConnectionClosed):
            await client.receive()


async def test_given_keys_are_the_only_ones() -> None:
    async with simulated_alpaca(key="mine", secret="hidden") as alpaca, alpaca.client() as client:
        assert (await client.log_in("mine", "other"))["code"] == 402
        async with alpaca.client() as second:
            assert await second.log_in("mine", "hidden") == AUTHENTICATED


async def test_login_has_a_deadline(alpaca: SimulatedAlpaca) -> None:
    async with alpaca.client() as client:
        alpaca.run(9_000, step=1_000)
        alpaca.run(1_000)
        assert await client.error() == (404, "auth timeout")
        with pytest.raises(ConnectionClosed):
            await client.receive()


async def test_second_connection_of_a_key_is_one_too_many(alpaca: SimulatedAlpaca) -> None:
    """Another key, another stream, and the same key after the first client has left are let in."""
    async with alpaca.client() as client:
        await client.log_in()
        async with alpaca.client() as second:
            assert (await second.log_in())["code"] == 406
        async with alpaca.client() as third, alpaca.client("/v2/iex") as fourth:
            assert await third.log_in("other") == AUTHENTICATED
            assert await fourth.log_in() == AUTHENTICATED


async def test_free_plan_has_one_feed_and_thirty_symbols() -> None:
    async with simulated_alpaca(free=True) as alpaca:
        async with alpaca.client("/v2/sip") as client:
            assert (await client.log_in())["code"] == 409
        async with alpaca.client("/v2/iex") as client:
            await client.log_in()
            symbols = sorted(alpaca.market.stocks)[:31]
            assert (await client.subscribe(trades=symbols))["code"] == 405
            assert (await client.subscribe(quotes=["*"]))["code"] == 405
            assert (await client.subscribe(trades=symbols[:30], bars=["*"]))["trades"] == symbols[:30]


async def test_subscriptions_have_a_bound(alpaca: SimulatedAlpaca) -> None:
    """Symbols that do not exist count too, so that a client cannot fill the memory."""
    async with alpaca.client() as client:
        await client.log_in()
        for part in range(5):
            answer = await client.subscribe(bars=[f"X{part}{number}" for number in range(4_500)])
        assert answer["code"] == 405
        assert len((await client.subscribe(bars=["AAPL"]))["bars"]) == 18_001


async def test_unknown_stream_is_not_found(alpaca: SimulatedAlpaca) -> None:
    with pytest.raises(InvalidStatus, match="404"):
        async with alpaca.client("/v3/everything"):
            pass


async def test_subscriptions_are_acknowledged_with_all_channels(alpaca: SimulatedAlpaca) -> None:
    async with alpaca.client() as client:
        await client.log_in()
        answer = await client.subscribe(trades=["MSFT", "AAPL"], bars=["*"], statuses=["AAPL"])
        assert answer["T"] == "subscription"
        assert (answer["trades"], answer["bars"], answer["quotes"]) == (["AAPL", "MSFT"], ["*"], [])
        assert answer["corrections"] == answer["cancelErrors"] == ["AAPL", "MSFT"]
        await client.send(action="unsubscribe", trades=["AAPL"], bars=["*"])
        answer = await client.next_of("subscription")
        assert (answer["trades"], answer["bars"]) == (["MSFT"], [])
        alpaca.run(1_000)
        assert (await client.next_of("t"))["S"] == "MSFT"
        assert alpaca.server.followed() == ["MSFT"]


@pytest.mark.parametrize(
    "text", ["{", "7", "[]", '{"action":"fly"}', '{"action":"subscribe","trades":"AAPL"}', "[" * 20_000]
)
async def test_malformed_command_is_an_error(alpaca: SimulatedAlpaca, text: str) -> None:
    """The connection stays open."""
    async with alpaca.client() as client:
        await client.log_in()
        await client.connection.send(text)
        assert await client.error() == (400, "invalid syntax")
        assert (await client.subscribe(trades=["AAPL"]))["T"] == "subscription"


@pytest.mark.parametrize("headers", [{}, MSGPACK], ids=["json", "msgpack"])
async def test_trades_and_quotes_are_those_of_the_market(
    alpaca: SimulatedAlpaca, headers: dict[str, str]
) -> None:
    """MessagePack has times as timestamps, JSON as text."""
    async with alpaca.client(**headers) as client:
        await client.log_in()
        await client.subscribe(trades=["AAPL"], quotes=["AAPL", "NONE"])
        alpaca.run(1_000)
        trade, quote = await client.next_of("t"), await client.next_of("q")
        time = trade["t"] if client.binary else datetime.fromisoformat(trade["t"])
        price = alpaca.market.price("AAPL", milliseconds(time))
        assert (trade["S"], trade["p"], trade["i"]) == ("AAPL", price.price, price.number)
        assert (quote["bp"], quote["ap"]) == (price.bid, price.ask)


async def test_star_is_every_stock(alpaca: SimulatedAlpaca) -> None:
    async with alpaca.client() as client:
        await client.log_in()
        await client.subscribe(quotes=["*"])
        assert alpaca.server.followed() == sorted(alpaca.market.stocks)
        await client.send(action="unsubscribe", quotes=["*"])
        await client.next_of("subscription")
        assert alpaca.server.followed() == []


async def test_delayed_feed_is_a_quarter_of_an_hour_behind(alpaca: SimulatedAlpaca) -> None:
    async with alpaca.client("/v2/delayed_sip") as client:
        await client.log_in()
        await client.subscribe(trades=["AAPL"])
        alpaca.run(100)
        trade = await client.next_of("t")
        moment = milliseconds(datetime.fromisoformat(trade["t"]))
        assert 0 <= alpaca.clock.moment() - 15 * 60_000 - moment < 1_000
        assert trade["p"] == alpaca.market.price("AAPL", moment).price


async def test_test_stream_has_its_own_symbol(alpaca: SimulatedAlpaca) -> None:
    async with alpaca.client("/v2/test") as client:
        await client.log_in()
        await client.subscribe(trades=["FAKEPACA", "AAPL"], bars=["FAKEPACA"])
        alpaca.run(10_020)
        assert (await client.next_of("t"))["S"] == "FAKEPACA"
        assert (await client.next_of("b"))["S"] == "FAKEPACA"


async def test_bars_come_with_the_minute(alpaca: SimulatedAlpaca) -> None:
    """A minute's bar comes at its end and again half a minute later; the day's bar comes each minute."""
    async with alpaca.client() as client:
        await client.log_in()
        await client.subscribe(bars=["AAPL"], updatedBars=["AAPL"], dailyBars=["AAPL"])
        alpaca.run(10_020)
        messages = [await client.next_of(kind) for kind in "bd"]
        alpaca.run(30_000, step=1_000)
        messages.append(await client.next_of("u"))
        begin = START + 10_000 - 60_000
        [minute] = alpaca.market.bars("AAPL", "1m", begin, begin + 59_999)
        for message in (messages[0], messages[2]):
            assert [message[name] for name in "ohlcv"] == [
                *(minute.open, minute.high, minute.low, minute.close, minute.volume)
            ]
            assert datetime.fromisoformat(message["t"]) == utc(begin)
        assert messages[1]["v"] > messages[0]["v"]


class Halted(Scenario, frozen=True):
    """A pause of five seconds."""

    def alterations(self, start: int) -> list[Alteration]:
        return [Pause(start, start + 5_000)]


async def test_halt_and_resumption_are_statuses() -> None:
    planned = Planned(Halted(symbols=("AAPL",)), START + 2_000)
    async with simulated_alpaca([planned]) as alpaca, alpaca.client() as client:
        await client.log_in()
        await client.subscribe(statuses=["*"], lulds=["*"], trades=["AAPL"])
        alpaca.run(9_000)
        halt, resumption = await client.next_of("s"), await client.next_of("s")
        assert (halt["S"], halt["sc"], halt["rc"]) == ("AAPL", "H", "T12")
        assert (resumption["S"], resumption["sc"]) == ("AAPL", "T")
        assert datetime.fromisoformat(halt["t"]) < datetime.fromisoformat(resumption["t"])


@pytest.mark.parametrize("headers", [{}, MSGPACK], ids=["json", "msgpack"])
async def test_news_come_once_to_readers_of_their_symbols(
    alpaca: SimulatedAlpaca, headers: dict[str, str]
) -> None:
    """A revised story comes again."""
    async with alpaca.client("/v1beta1/news", **headers) as client:
        await client.log_in()
        assert await client.subscribe(news=["*", "AAPL"]) == {"T": "subscription", "news": ["*", "AAPL"]}
        alpaca.run(1_800_000, step=10_000)
        stories = [await client.next_of("n") for _ in range(5)]
        assert len({(story["id"], story["updated_at"]) for story in stories}) == 5
        written = stories[0]["created_at"]
        assert written == (utc(milliseconds(written)) if client.binary else written)


async def test_pairs_have_trades_quotes_and_books(alpaca: SimulatedAlpaca) -> None:
    async with alpaca.client("/v1beta3/crypto/us") as client:
        await client.log_in()
        answer = await client.subscribe(
            trades=["BTC/USD"], quotes=["BTC/USD"], orderbooks=["BTC/USD"], bars=["*"]
        )
        assert "statuses" not in answer
        alpaca.run(10_020)
        trade, quote, book = [await client.next_of(kind) for kind in "tqo"]
        assert trade["S"] == quote["S"] == "BTC/USD"
        assert (book["b"][0]["p"], book["a"][0]["p"]) == (quote["bp"], quote["ap"])
        assert "/" in (await client.next_of("b"))["S"]


async def test_slow_client_is_sent_away(alpaca: SimulatedAlpaca, monkeypatch: pytest.MonkeyPatch) -> None:
    async with alpaca.client() as client:
        await client.log_in()
        [served] = alpaca.server.clients
        monkeypatch.setattr(type(served), "is_slow", True)
        alpaca.run(20)
        assert await client.error() == (407, "slow client")
        with pytest.raises(ConnectionClosed):
            await client.receive()
        assert not alpaca.server.clients


async def test_maintenance_is_an_error_and_refuses_handshakes() -> None:
    async with simulated_alpaca([Planned(Maintenance(), START + 1_000)]) as alpaca, alpaca.client() as client:
        await client.log_in()
        alpaca.run(1_020)
        assert await client.error() == (500, "internal error")
        with pytest.raises(InvalidStatus, match="503"):
            async with alpaca.client():
                pass


class NotANumber(Scenario, frozen=True):
    """Spoils every price."""

    def spoil(self, number: int) -> Spoil:
        del number
        return "nan"


@pytest.mark.parametrize("headers", [{}, MSGPACK], ids=["json", "msgpack"])
async def test_price_that_is_no_number_is_text(headers: dict[str, str]) -> None:
    async with simulated_alpaca([Planned(NotANumber(), START)]) as alpaca, alpaca.client(**headers) as client:
        await client.log_in()
        await client.subscribe(trades=["AAPL"])
        alpaca.run(100)
        assert (await client.next_of("t"))["p"] == "NaN"


async def test_rate_limit_refuses_handshakes() -> None:
    async with simulated_alpaca([Planned(RateLimited(), START)]) as alpaca:
        with pytest.raises(InvalidStatus, match="429"):
            async with alpaca.client():
                pass


async def record(headers: dict[str, str]) -> list[bytes]:
    """Returns the frames of eleven seconds."""
    frames = []
    async with simulated_alpaca() as alpaca, alpaca.client(**headers) as client:
        await client.log_in()
        await client.subscribe(trades=["AAPL", "MSFT"], quotes=["*"], bars=["*"])
        for _ in range(11):
            alpaca.run(1_000)
        alpaca.server.fail(next(iter(alpaca.server.clients)), 407)
        try:
            while True:
                frame = await client.connection.recv()
                frames.append(frame if isinstance(frame, bytes) else frame.encode())
        except ConnectionClosed:
            return frames


@pytest.mark.slow
@pytest.mark.parametrize("headers", [{}, MSGPACK], ids=["json", "msgpack"])
async def test_sessions_of_a_seed_are_equal(headers: dict[str, str]) -> None:
    first = await record(headers)
    assert first == await record(headers)
    assert len(first) > 500
    assert msgspec.json.decode(first[-1])[0]["code"] == 407 if not headers else True
