"""What Prometheus does: asks for metrics, and finds a value by name and labels."""

import contextlib
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import httpx
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

PATIENCE_SECONDS = 20.0


class Scrape(NamedTuple):
    """One answer; samples by name."""

    families: list[Metric]

    def value(self, name: str, **labels: str) -> float:
        """The sum of the samples that bear these labels, among others."""
        return sum(
            sample.value
            for family in self.families
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def labels(self, name: str) -> list[dict[str, str]]:
        return [each.labels for family in self.families for each in family.samples if each.name == name]

    def names(self) -> set[str]:
        """Of samples, those of families without any among them, as a query would name them."""
        named = {sample.name for family in self.families for sample in family.samples}
        empty = {family.name + ("_total" if family.type == "counter" else "") for family in self.families}
        histograms = [family.name for family in self.families if family.type == "histogram"]
        return named | empty | {name + part for name in histograms for part in ("_bucket", "_count", "_sum")}


def scrape(url: str) -> Scrape:
    return parsed(httpx.get(url, timeout=5).text)


def parsed(text: str) -> Scrape:
    return Scrape(list(text_string_to_metric_families(text)))


def of(families: Iterable[Metric]) -> Scrape:
    """Families that were not written and read, as a scrape would show them."""
    return Scrape(list(families))


def scraped_until(url: str, reached: Callable[[Scrape], bool]) -> Scrape:
    """The first answer that has what is waited for."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        with contextlib.suppress(httpx.TransportError):
            found = scrape(url)
            if reached(found):
                return found
        assert time.monotonic() < deadline, "the metrics never came so far"
        time.sleep(0.05)
