"""Counts of refusals."""

from concurrent.futures import ThreadPoolExecutor

from quotecast.providers.refusals import RefusalCounter, totals


def test_each_adapter_counts_its_own_and_the_process_counts_all() -> None:
    """Two adapters of one provider share the metric, and keep their own counts apart."""
    before = totals().get(("acme", "absurd"), 0)
    quotes, bars = RefusalCounter("acme"), RefusalCounter("acme")
    quotes.count("absurd")
    bars.count("absurd", 2)
    bars.count("malformed", 0)
    assert quotes.by_reason() == {"absurd": 1}
    assert bars.by_reason() == {"absurd": 2}
    assert totals()["acme", "absurd"] == before + 3
    assert ("acme", "malformed") not in totals()


def test_threads_lose_no_count() -> None:
    """Answers are checked in threads too."""
    refused = RefusalCounter("threads")

    def count(_: int) -> None:
        for _ in range(1000):
            refused.count("misplaced")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(8)))
    assert refused.by_reason() == {"misplaced": 8000}
    assert totals()["threads", "misplaced"] == 8000
