"""The metrics ports of the processes of `quotecast up`."""

import pytest

from quotecast.errors import SettingsError
from quotecast.local.up import _metrics
from quotecast.settings import loading
from quotecast.settings.model import Settings


def ports(settings: Settings) -> list[str]:
    """Returns the metrics ports of the ingest and of two workers."""
    return [_metrics(settings, number)["QUOTECAST_METRICS_PORT"] for number in range(3)]


def test_without_a_setting_each_takes_a_free_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process prints its port."""
    monkeypatch.delenv("QUOTECAST_METRICS_PORT", raising=False)
    assert ports(Settings()) == ["-1", "-1", "-1"]


@pytest.mark.parametrize(
    ("given", "expected"), [(9464, ["9464", "9465", "9466"]), (0, ["0", "0", "0"]), (-1, ["-1", "-1", "-1"])]
)
def test_the_setting_is_the_first_of_consecutive_ports(
    monkeypatch: pytest.MonkeyPatch, given: int, expected: list[str]
) -> None:
    """Prometheus then knows them; zero switches metrics off."""
    monkeypatch.setenv("QUOTECAST_METRICS_PORT", str(given))
    assert ports(Settings(metrics_port=given)) == expected


@pytest.mark.parametrize("public", ["PORT", "FEED_PORT"])
def test_a_public_port_is_refused(public: str) -> None:
    """Metrics stay on a private address."""
    with pytest.raises(SettingsError, match=r"QUOTECAST_METRICS_PORT: 8123 is public"):
        loading.load({f"QUOTECAST_{public}": "8123", "QUOTECAST_METRICS_PORT": "8123"})


@pytest.mark.parametrize(("text", "value"), [("off", "off"), ("0.25", 0.25), ("1", 1.0)])
def test_the_access_log_is_off_or_a_share(text: str, value: object) -> None:
    """The setting takes a number from 0 to 1."""
    assert loading.load({"QUOTECAST_ACCESS_LOG": text}).access_log == value


@pytest.mark.parametrize("text", ["on", "2", "-0.1", "nan"])
def test_no_other_share_is_taken(text: str) -> None:
    """An invalid value is an error; the setting does not guess."""
    with pytest.raises(SettingsError, match="QUOTECAST_ACCESS_LOG"):
        loading.load({"QUOTECAST_ACCESS_LOG": text})
