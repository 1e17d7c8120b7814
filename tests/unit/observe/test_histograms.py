from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from quotecast.observe.histograms import SECONDS, Histogram

sizes = st.floats(min_value=0, max_value=100) | st.sampled_from(SECONDS)


@given(st.lists(sizes))
def test_each_bucket_holds_what_is_no_greater_than_its_bound(observed: Sequence[float]) -> None:
    """Prometheus's `le` is inclusive: a value on the bound belongs to the bucket."""
    histogram = Histogram()
    for value in observed:
        histogram.observe(value)
    for bound, count in histogram.cumulative():
        assert count == sum(value <= float(bound) for value in observed)


@given(st.lists(sizes))
def test_the_total_is_the_sum(observed: Sequence[float]) -> None:
    """Sum and count give the average."""
    histogram = Histogram()
    for value in observed:
        histogram.observe(value)
    assert histogram.total == sum(observed)
    assert histogram.cumulative()[-1] == ("+Inf", len(observed))
