"""A reader of Prometheus metrics: scrapes them, and finds values by name and labels."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import httpx
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from support.clients.plain_http import NO_TLS
from support.runs.deadlines import scaled
from support.runs.waits import wait_until


class Scrape(NamedTuple):
    """One scrape; samples by name."""

    families: list[Metric]

    def value(self, name: str, **labels: str) -> float:
        """Returns the sum of the samples that have these labels, among others."""
        return sum(
            sample.value
            for family in self.families
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def labels(self, name: str) -> list[dict[str, str]]:
        return [each.labels for family in self.families for each in family.samples if each.name == name]

    def names(self) -> set[str]:
        """Returns the names of samples, and those of families without samples, as queries name them."""
        named = {sample.name for family in self.families for sample in family.samples}
        empty = {family.name + ("_total" if family.type == "counter" else "") for family in self.families}
        histograms = [family.name for family in self.families if family.type == "histogram"]
        return named | empty | {name + part for name in histograms for part in ("_bucket", "_count", "_sum")}


def scrape(url: str) -> Scrape:
    return parse_metrics(httpx.get(url, timeout=scaled(5), verify=NO_TLS).text)


def decided_alone(workers: Iterable[str]) -> int:
    """Returns how many requests workers admitted or refused alone, as Redis took over 50 ms."""
    return int(sum(scrape(each).value("quotecast_limit_fallback_decisions_total") for each in workers))


def parse_metrics(text: str) -> Scrape:
    return Scrape(list(text_string_to_metric_families(text)))


def scrape_of(families: Iterable[Metric]) -> Scrape:
    """Returns families as a scrape shows them, without the HTTP in between."""
    return Scrape(list(families))


def wait_for_scrape(url: str, reached: Callable[[Scrape], bool]) -> Scrape:
    """Returns the first scrape that satisfies the condition."""

    def satisfying() -> Scrape | None:
        found = scrape(url)
        return found if reached(found) else None

    return wait_until(satisfying, "no scrape satisfied the condition", ignoring=(httpx.TransportError,))
