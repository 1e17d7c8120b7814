"""The fields about the data themselves, its quality, its terms and its hours; see `field_texts`."""

from typing import Final

DATA_TEXTS: Final = {
    "ageP50Ms": (
        "Age that half of the quotes did not exceed when they came, in milliseconds, at most a tenth too high"
    ),
    "ageP90Ms": "Age that 90 % of the quotes did not exceed, in milliseconds; null without ages",
    "ageP99Ms": "Age that 99 % of the quotes did not exceed, in milliseconds; null without ages",
    "attribution": "Text that the terms want beside the data; null if none",
    "ExtendedHours.change": "Price minus `close`, in US dollars",
    "ExtendedHours.changePercent": "Change from `close`, in percent",
    "ExtendedHours.close": "Last close of a regular session before the trade, in US dollars",
    "FeedDay.corrections": (
        "Updates more than ten minutes late, and the venue's bars after their minute was final, repeats too"
    ),
    "FeedDay.covered": "Minutes with a bar of any symbol, up to `writtenAt`",
    "SymbolMinutes.covered": "Minutes with a bar of the symbol",
    "Quality.date": "Date at the venue: YYYY-MM-DD",
    "delayMinutes": "Minutes after which the terms let everybody see a quote; null if they do not say so",
    "extended": "The last trade if it was outside the regular session; else absent, and null in feeds",
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
    "read": "Day of the newest known reading of the source: YYYY-MM-DD; null without a source",
    "redistribute": "Whether the terms let you pass the data on: `agreement` means only with one",
    "FeedDay.refused": "Messages, rows and values that the checks of upstream data refused, by reason",
    "ExtendedHours.session": "Whether the trade was before the regular session or after it",
    "show": "Whether the terms let you show the data to others: `agreement` means only with one",
    "Terms.source": "Address of the terms; null if there are none",
    "staleSeconds": "Seconds of `ledSeconds` in which clients saw the feed as stale",
    "store": "Whether the terms let you keep the data: `agreement` means only with one",
    "Terms.summary": "The terms in a sentence",
    "Quality.symbol": "Minutes of the asked symbol; null without one, and after the days of one-minute bars",
    "SymbolMinutes.symbol": "Symbol as the feed spells it",
    "FeedMinutes.symbols": "Number of symbols with a bar on the day",
    "Quality.symbols": "Minutes over all symbols; null with `symbol`, and if bars are gone or come late",
    "terms": "What the terms of `provider` allow; null in lists of prices, or if its package does not say so",
    "ExtendedHours.timestamp": "Time of the trade: ISO 8601 in UTC",
    "Gap.to": "End of the last minute without a bar: ISO 8601 in UTC",
    "until": "Close of the session, or the end of its last minute whose bars are stored: ISO 8601 in UTC",
    "updates": "Published changes of quotes, with removals",
    "writtenAt": "Time at which the figures were last written: ISO 8601 in UTC",
}
