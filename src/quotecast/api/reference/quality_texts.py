"""Texts of the fields of `/api/quality`; see `field_texts`."""

from typing import Final

QUALITY_TEXTS: Final = {
    "ageP50Ms": (
        "Age that half of the quotes did not exceed when they came, in milliseconds, at most a tenth too high"
    ),
    "ageP90Ms": "Age that 90 % of the quotes did not exceed, in milliseconds; null without ages",
    "ageP99Ms": "Age that 99 % of the quotes did not exceed, in milliseconds; null without ages",
    "FeedDay.corrections": (
        "Updates more than ten minutes late, and the venue's bars after their minute was final, repeats too"
    ),
    "FeedDay.covered": "Minutes with a bar of any symbol, up to `writtenAt`",
    "SymbolMinutes.covered": "Minutes with a bar of the symbol",
    "Quality.date": "Date at the venue: YYYY-MM-DD",
    "Quality.feed": "Feed of the figures: market, crypto or doviz",
    "fewestCovered": "Minutes with a bar of the 20 symbols that have the fewest, by symbol",
    "figures": "Figures of the whole feed; null without any",
    "Gap.from": "Begin of the first minute without a bar: ISO 8601 in UTC",
    "gapCount": "Number of all gaps, of which `gaps` has the first 100",
    "gaps": "Minutes in a row without a bar, the oldest first",
    "ledSeconds": "Seconds of the day in which an ingest led the feed",
    "medianCovered": "Median of the minutes with a bar, over the symbols with any",
    "Gap.minutes": "Length of the gap in minutes",
    "Quality.minutes": "Minutes of the session up to `until`",
    "opensAt": "Begin of the session: ISO 8601 in UTC; null until it has minutes, and on a date without one",
    "FeedDay.refused": "Messages, rows and values that the checks of upstream data refused, by reason",
    "staleSeconds": "Seconds of `ledSeconds` in which clients saw the feed as stale",
    "Quality.symbol": "Minutes of the asked symbol; null without one, and after the days of one-minute bars",
    "SymbolMinutes.symbol": "Symbol as the feed spells it",
    "FeedMinutes.symbols": "Number of symbols with a bar on the day",
    "Quality.symbols": "Minutes over all symbols; null with `symbol`, and if bars are gone or come late",
    "Gap.to": "End of the last minute without a bar: ISO 8601 in UTC",
    "until": "Close of the session, or the end of its last minute whose bars are stored: ISO 8601 in UTC",
    "updates": "Published changes of quotes, with removals",
    "writtenAt": "Time at which the figures were last written: ISO 8601 in UTC",
}
