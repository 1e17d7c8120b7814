import { isOneOf, sharedSignal } from "./stored.ts";
import type { Word } from "./words.ts";

export const HOURS = ["auto", "24"] as const;
export const HOUR_NAMES: Record<(typeof HOURS)[number], Word> = { auto: "hoursOfLanguage", "24": "hours24" };
export const ZONES = ["local", "exchange"] as const;
export const ZONE_NAMES: Record<(typeof ZONES)[number], Word> = { local: "zoneLocal", exchange: "zoneExchange" };
const EXCHANGE = "America/New_York";

/** The form of times of day: as the language does, or with 24 hours. */
export const hours = sharedSignal<(typeof HOURS)[number]>("hours", "auto", isOneOf(HOURS));
/** Whose times of day are written: the reader's, or those of the New York Stock Exchange. */
export const zone = sharedSignal<(typeof ZONES)[number]>("zone", "local", isOneOf(ZONES));

/** Returns the options of every time of day that the page writes. */
export const timeOptions = (): Intl.DateTimeFormatOptions => ({
  ...(hours.value === "24" ? { hourCycle: "h23" } : {}),
  ...(zone.value === "exchange" ? { timeZone: EXCHANGE } : {}),
});

/** Returns those of a time in New York, whatever the zone. */
export const exchangeOptions = (): Intl.DateTimeFormatOptions => ({ ...timeOptions(), timeZone: EXCHANGE });
