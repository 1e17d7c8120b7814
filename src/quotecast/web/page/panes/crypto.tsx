import { useEffect, useMemo, useState } from "preact/hooks";

import type { CryptoQuote, CryptoSymbol, DovizQuote } from "quotecast-client";
import { ASK, BID, type Column, HIGH, LOW, PERCENT, PRICE, SYMBOL, VOLUME } from "../columns.ts";
import { compact } from "../formats.ts";
import { instrumentOf } from "../instruments.ts";
import type { AnyQuote } from "../live.ts";
import { AnswerView, type Memory, Tools, useVisible } from "../pane.tsx";
import { live, rest, useAnswer } from "../service.ts";
import { LiveTable } from "../table.tsx";
import { say } from "../words.ts";
import { currencyOf, type Rates, rateBetween, ratesOf, turnoverOf, usualCurrency } from "./turnover.ts";

/** Rates of this age are good enough for a turnover. */
const RATES_FOR_MS = 2000;
/** The first quotes come within this time: without them the pane would order the pairs otherwise. */
const NO_RATES_FOR_MS = 250;
const BY_TURNOVER = "-turnover";
const DOLLARS = "USD";
const TYPICAL = 123_450_000;

export function Crypto(memory: Memory) {
  const answer = useAnswer(() => rest.call("GET /api/crypto/symbols"), "symbols", { active: useVisible() });
  return <AnswerView answer={answer}>{(symbols) => <Pairs symbols={symbols} {...memory} />}</AnswerView>;
}

function Pairs({ symbols, memory, remember }: Memory & { readonly symbols: readonly CryptoSymbol[] }) {
  const rows = useMemo(() => symbols.map((each) => instrumentOf("crypto", each.ticker)), [symbols]);
  const exchange = useExchange(symbols);
  const columns = useMemo(
    () => [SYMBOL, PRICE, PERCENT, turnoverColumn(exchange), BID, ASK, HIGH, LOW, VOLUME],
    [exchange],
  );
  const { target, others } = useUnits(exchange);
  return (
    <>
      <Tools>
        <p class="quiet" title={say("turnoverIn", { currency: target })}>
          {say("turnoverShort", { currency: target })}
        </p>
      </Tools>
      {others.length > 0 && (
        <p class="quiet note">{say("turnoverMissing", { currency: target, currencies: others.join(", ") })}</p>
      )}
      <LiveTable
        label={say("crypto")}
        rows={rows}
        columns={columns}
        sort={memory.sort ?? BY_TURNOVER}
        onSort={(sort) => remember({ sort })}
      />
    </>
  );
}

/** Returns the currency of the turnovers and the currencies without a rate to it, as far as quotes have come. */
function useUnits(exchange: Exchange): { readonly target: string; readonly others: readonly string[] } {
  const [, setUnits] = useState("");
  const units = { target: exchange.target(), others: exchange.unknown() };
  useEffect(() => {
    const look = () => setUnits([exchange.target(), ...exchange.unknown()].join());
    const timer = setInterval(look, NO_RATES_FOR_MS);
    return () => clearInterval(timer);
  }, [exchange]);
  return units;
}

interface Exchange {
  readonly rates: () => Rates;
  /** The currency of the turnovers: dollars if most of them convert, otherwise that of most pairs. */
  readonly target: () => string;
  /** The currencies without a rate to the target. */
  readonly unknown: () => readonly string[];
}

/** Follows the rates between the currencies of all pairs and the dollar. */
function useExchange(symbols: readonly CryptoSymbol[]): Exchange {
  const visible = useVisible();
  const exchange = useMemo(() => makeExchange(symbols.map((each) => each.ticker)), [symbols]);
  useEffect(() => {
    if (!visible) return;
    const currencies = [DOLLARS, ...currenciesOf(symbols)].filter((each) => /^[A-Z]{3}$/.test(each));
    const ends = [...new Set(currencies)].map((each) => live.watch("doviz", each, () => undefined));
    return () => {
      for (const end of ends) end();
    };
  }, [symbols, visible]);
  return exchange;
}

const currenciesOf = (symbols: readonly CryptoSymbol[]) => [...new Set(symbols.map((each) => currencyOf(each.ticker)))];

function makeExchange(tickers: readonly string[]): Exchange {
  const currencies = new Set([DOLLARS, "TRY", ...tickers.map(currencyOf)]);
  const between = tickers.filter((each) => each.split("/").every((side) => currencies.has(side)));
  const usual = usualCurrency(tickers);
  let known: { readonly rates: Rates; readonly at: number } | null = null;
  const rates = () => {
    const now = performance.now();
    const fresh = known && rateBetween(known.rates, usual, DOLLARS) !== null ? RATES_FOR_MS : NO_RATES_FOR_MS;
    if (!known || now - known.at > fresh) known = { rates: readRates(between, [...currencies]), at: now };
    return known.rates;
  };
  const target = () => (rateBetween(rates(), usual, DOLLARS) === null ? usual : DOLLARS);
  const unknown = () =>
    [...currencies].filter(
      (each) => tickers.some((ticker) => currencyOf(ticker) === each) && rateBetween(rates(), each, target()) === null,
    );
  return { rates, target, unknown };
}

function readRates(tickers: readonly string[], currencies: readonly string[]): Rates {
  const quotes = (feed: "crypto" | "doviz", keys: readonly string[]) =>
    keys.map((key) => live.quote(feed, key)).filter((quote) => quote !== undefined);
  return ratesOf(quotes("crypto", tickers) as CryptoQuote[], quotes("doviz", currencies) as DovizQuote[]);
}

function turnoverColumn({ rates, target }: Exchange): Column {
  const turnover = (quote: AnyQuote) => turnoverOf(quote as CryptoQuote, rates(), target());
  return {
    title: "turnover",
    text: (quote) => {
      // A table asks for the width of a typical value, which has no name.
      if (!("ticker" in quote)) return compact(TYPICAL);
      const found = turnover(quote);
      if (!found) return "–";
      return found.currency === target() ? compact(found.amount) : `${compact(found.amount)} ${found.currency}`;
    },
    // Amounts in several currencies have no order.
    value: (quote) => {
      const found = turnover(quote);
      return found?.currency === target() ? found.amount : null;
    },
    rank: 1,
  };
}
