"""The figures of `quotecast audit`, each by itself."""

import pytest

from quotecast.commands.auditing.figures import (
    Ages,
    Agreement,
    ClockOffset,
    Disagreement,
    Moment,
    QuoteFigures,
    Seen,
    Silence,
)


@pytest.mark.parametrize(("share", "true"), [(0.5, 500), (0.95, 950), (0.99, 990), (1.0, 1000)])
def test_a_percentile_is_at_most_two_per_cent_too_high(share: float, true: float) -> None:
    ages = Ages()
    ages.correct(0)
    for age in range(1, 1001):
        ages.add(age)
    found = ages.percentile(share)
    assert found is not None
    assert true <= found <= 1.02 * true


def test_no_percentile_is_above_the_greatest_age() -> None:
    ages = Ages()
    ages.correct(0)
    ages.add(133.0)
    assert ages.percentile(0.5) == ages.percentile(0.99) == ages.largest == 133.0


def test_an_age_beyond_the_buckets_is_the_greatest() -> None:
    """A quote of a year ago counts with its age."""
    ages = Ages()
    ages.correct(0)
    ages.add(31_536_000_000.0)
    assert ages.percentile(0.99) == 31_536_000_000.0


def test_without_quotes_there_is_no_percentile() -> None:
    assert Ages().percentile(0.5) is None


def test_ages_wait_for_the_offset_of_the_clock() -> None:
    """The service's clock is two seconds ahead: by ours its quotes come from the future."""
    ages = Ages()
    ages.add(-1900)
    assert ages.count == 0
    ages.correct(2000)
    assert (ages.count, ages.largest, ages.ahead) == (1, 100, 0)


def test_without_an_offset_our_own_clock_counts() -> None:
    ages = Ages()
    ages.add(50)
    ages.settle()
    assert (ages.count, ages.largest) == (1, 50)


def test_a_quote_from_the_future_has_no_age_and_is_counted() -> None:
    ages = Ages()
    ages.correct(0)
    ages.add(-3_600_000)
    assert (ages.count, ages.largest, ages.ahead) == (1, 0, 1)


def test_the_longest_silence_may_be_the_present_one() -> None:
    silence = Silence(10.0)
    assert silence.note(12.0) == 2.0
    assert silence.note(12.5) == 0.5
    assert silence.longest(13.0) == 2.0
    assert silence.longest(20.0) == 7.5


def test_the_quietest_symbols_come_first() -> None:
    figures = QuoteFigures()
    for symbol, *times in (("A", 0, 1, 3), ("B", 0, 5), ("C", 0, 3), ("GONE", 0, 9)):
        for time in times:
            figures.take(str(symbol), None, Moment(float(time), 0.0))
    figures.forget("GONE")
    assert figures.quietest(2, 5.0) == {"B": 5.0, "C": 3.0}


def test_the_fastest_answer_says_the_offset() -> None:
    """A slow answer may be wrong by half of its time, and changes nothing."""
    clock = ClockOffset()
    clock.take("1970-01-01T00:01:45.000Z", 99.0, 101.0)
    assert (clock.offset, clock.round_trip) == (5000, 2000)
    clock.take("1970-01-01T00:01:44.000Z", 99.9, 100.1)
    assert clock.offset == pytest.approx(4000)
    clock.take("1970-01-01T00:05:00.000Z", 90.0, 110.0)
    assert clock.offset == pytest.approx(4000)


def test_an_equal_quote_of_rest_agrees() -> None:
    agreement = Agreement()
    agreement.take_quote("AAPL", Seen(1000, 10.0))
    agreement.take_answer("AAPL", Seen(1000, 10.0))
    assert (agreement.compared, agreement.disagreements, agreement.is_waiting) == (1, 0, False)


def test_rest_may_be_behind_the_feed() -> None:
    agreement = Agreement()
    for time in range(5):
        agreement.take_quote("AAPL", Seen(time, 10.0 + time))
    agreement.take_answer("AAPL", Seen(2, 12.0))
    assert (agreement.compared, agreement.disagreements) == (1, 0)


def test_rest_may_be_ahead_of_the_feed() -> None:
    agreement = Agreement()
    agreement.take_quote("AAPL", Seen(1000, 10.0))
    agreement.take_answer("AAPL", Seen(1250, 11.0))
    assert agreement.is_waiting
    agreement.take_quote("AAPL", Seen(1250, 11.0))
    assert (agreement.compared, agreement.disagreements, agreement.is_waiting) == (1, 0, False)


def test_a_time_that_the_feed_skips_is_not_compared() -> None:
    """The feed conflates: it may go from 1000 to 1500 without the quote between."""
    agreement = Agreement()
    agreement.take_quote("AAPL", Seen(1000, 10.0))
    agreement.take_answer("AAPL", Seen(1250, 11.0))
    agreement.take_quote("AAPL", Seen(1500, 12.0))
    assert (agreement.compared, agreement.is_waiting) == (0, False)


def test_another_price_at_the_same_time_disagrees() -> None:
    """A second quote of the same time could still come, so the answer waits for the next time."""
    agreement = Agreement()
    agreement.take_quote("AAPL", Seen(1000, 10.0))
    agreement.take_answer("AAPL", Seen(1000, 99.0))
    assert agreement.disagreements == 0
    agreement.take_quote("AAPL", Seen(1250, 11.0))
    assert agreement.disagreements == 1
    assert agreement.examples == [Disagreement("AAPL", 1000, 10.0, 99.0)]


def test_the_end_judges_what_still_waits() -> None:
    agreement = Agreement()
    agreement.take_quote("AAPL", Seen(1000, 10.0))
    agreement.take_quote("MSFT", Seen(1000, 10.0))
    agreement.take_answer("AAPL", Seen(1000, 99.0))
    agreement.take_answer("MSFT", Seen(1250, 11.0))
    agreement.finish()
    assert (agreement.compared, agreement.disagreements, agreement.is_waiting) == (1, 1, False)


def test_samples_take_turns() -> None:
    agreement = Agreement()
    for symbol in "ABC":
        agreement.take_quote(symbol, Seen(1, 1.0))
    assert [agreement.sample(2) for _ in range(3)] == [["A", "B"], ["C", "A"], ["B", "C"]]
    agreement.forget("B")
    assert sorted(agreement.sample(5)) == ["A", "C"]


def at(seconds: float) -> Moment:
    return Moment(seconds, seconds)


def test_the_first_quote_of_a_symbol_has_no_age() -> None:
    """It may be of yesterday; each later one counts."""
    figures = QuoteFigures()
    figures.ages.correct(0)
    figures.take("AAPL", "1970-01-01T00:00:00.000Z", at(100))
    assert figures.ages.count == 0
    figures.take("AAPL", "1970-01-01T00:01:40.000Z", at(100.25))
    assert (figures.count, figures.ages.count, figures.ages.largest) == (2, 1, 250)


def test_an_older_timestamp_goes_back_in_time() -> None:
    figures = QuoteFigures()
    for second, now in ((10, 10), (11, 11), (10, 12), (10, 13), (12, 14)):
        figures.take("AAPL", f"1970-01-01T00:00:{second}.000Z", at(now))
    figures.take("MSFT", "1970-01-01T00:00:01.000Z", at(15))
    assert figures.backwards == 1


def test_a_quote_without_a_time_has_no_age() -> None:
    figures = QuoteFigures()
    assert figures.take("USD", None, at(1)) is None
    assert (figures.count, figures.backwards, figures.ages.count) == (1, 0, 0)


def test_a_symbol_that_comes_again_starts_over() -> None:
    figures = QuoteFigures()
    figures.take("AAPL", "1970-01-01T00:00:10.000Z", at(10))
    figures.forget("AAPL")
    figures.take("AAPL", "1970-01-01T00:00:01.000Z", at(11))
    assert figures.backwards == 0
