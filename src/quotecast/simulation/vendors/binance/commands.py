"""Commands that clients of Binance's streams send, and the answers."""

from collections.abc import Callable
from typing import Any, Final, Protocol

import msgspec

from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.server import Client

_METHODS: Final = ("SUBSCRIBE", "UNSUBSCRIBE", "LIST_SUBSCRIPTIONS", "SET_PROPERTY", "GET_PROPERTY")
#: The code of a subscription beyond the limit.
TOO_MANY: Final = 4
_VARIANTS: Final = ", ".join(f"`{method}`" for method in _METHODS)


class Refused(Exception):
    """A command that Binance refuses: a code and a message."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class Subscriptions(Protocol):
    """The streams of clients."""

    def follow(self, client: Client, names: list[str]) -> None:
        """Subscribes to streams. Raises Refused."""

    def leave(self, client: Client, names: list[str]) -> None:
        """Unsubscribes from streams."""

    def names(self, client: Client) -> list[str]:
        """Returns the streams of a client."""

    def is_combined(self, client: Client) -> bool:
        """Returns whether the client's messages name their stream."""

    def combine(self, client: Client, *, combined: bool) -> None:
        """Decides whether the client's messages name their stream."""


def decode(text: str | bytes) -> Row:
    """Returns a command. Raises Refused for a text that is no JSON object."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (ValueError, RecursionError) as error:
        raise Refused(3, f"Invalid JSON: {error}") from error


def carry_out(subscriptions: Subscriptions, client: Client, command: Row) -> Any:
    """Returns the `result` of a command. Raises Refused."""
    number = command.get("id")
    if not (number is None or isinstance(number, str) or (type(number) is int and number >= 0)):
        raise Refused(2, "Invalid request: request ID must be an unsigned integer")
    if "method" not in command:
        raise Refused(2, "Invalid request: missing field `method`")
    handlers: dict[str, Callable[[Subscriptions, Client, Any], Any]] = {
        "SUBSCRIBE": _subscribe,
        "UNSUBSCRIBE": _unsubscribe,
        "LIST_SUBSCRIPTIONS": _list,
        "SET_PROPERTY": _set,
        "GET_PROPERTY": _get,
    }
    if (method := command["method"]) not in _METHODS:
        raise Refused(2, f"Invalid request: unknown variant `{method}`, expected one of {_VARIANTS}")
    return handlers[method](subscriptions, client, command.get("params"))


def _subscribe(subscriptions: Subscriptions, client: Client, params: Any) -> None:
    subscriptions.follow(client, _streams(params))


def _unsubscribe(subscriptions: Subscriptions, client: Client, params: Any) -> None:
    subscriptions.leave(client, _streams(params))


def _list(subscriptions: Subscriptions, client: Client, _: Any) -> list[str]:
    return subscriptions.names(client)


def _set(subscriptions: Subscriptions, client: Client, params: Any) -> None:
    if not isinstance(params, list) or len(params) != 2:
        raise Refused(2, "Invalid request: property name and value expected")
    _check_property(params[0])
    if not isinstance(params[1], bool):
        raise Refused(1, "Invalid value type: expected Boolean")
    subscriptions.combine(client, combined=params[1])


def _get(subscriptions: Subscriptions, client: Client, params: Any) -> bool:
    if not isinstance(params, list) or not params:
        raise Refused(2, "Invalid request: property name must be a string")
    if len(params) > 1:
        raise Refused(2, "Invalid request: too many parameters")
    _check_property(params[0])
    return subscriptions.is_combined(client)


def _check_property(name: Any) -> None:
    if not isinstance(name, str):
        raise Refused(2, "Invalid request: property name must be a string")
    if name != "combined":
        raise Refused(0, "Unknown property")


def _streams(params: Any) -> list[str]:
    if not isinstance(params, list) or not all(isinstance(name, str) for name in params):
        raise Refused(2, "Invalid request: params must be an array of stream names")
    return params
