import type { Instrument } from "./instruments.ts";
import { language, locale, say, type Word } from "./words.ts";

/** The sectors of the service, which names them in English. */
const SECTORS: Record<string, Word> = {
  "Information Technology": "sectorTechnology",
  Financials: "sectorFinancials",
  "Health Care": "sectorHealth",
  "Consumer Discretionary": "sectorDiscretionary",
  "Consumer Staples": "sectorStaples",
  "Communication Services": "sectorCommunication",
  Industrials: "sectorIndustrials",
  Energy: "sectorEnergy",
  Utilities: "sectorUtilities",
  Materials: "sectorMaterials",
  "Real Estate": "sectorRealEstate",
};

/** Returns the name of a sector in the reader's language. */
export function sectorName(sector: string): string {
  const word = SECTORS[sector];
  return word ? say(word) : sector;
}

/** Returns a name of the service in the reader's language: it names currencies in Turkish, coins have no other name. */
export function instrumentName({ feed, key }: Instrument, name: string): string {
  if (feed !== "doviz" || language.value === "tr" || !/^[A-Z]{3}$/.test(key)) return name;
  const found = new Intl.DisplayNames(locale(), { type: "currency", fallback: "none" }).of(key);
  return found ?? name;
}
