import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";

import type { Heatmap, StockQuote } from "quotecast-client";
import { nameScreen } from "../address.ts";
import { CHANGE, HIGH, LOW, OPEN, PERCENT, PRICE, SYMBOL, VOLUME } from "../columns.ts";
import { instrumentOf } from "../instruments.ts";
import { sectorName } from "../names.ts";
import { AnswerView, type Memory, useVisible } from "../pane.tsx";
import { withScreen } from "../query.ts";
import { live, rest, useAnswer } from "../service.ts";
import { LiveTable } from "../table.tsx";
import { say } from "../words.ts";
import { BOUNDS, fits, type Screen, SIGNALS } from "./screen.ts";

const COLUMNS = [SYMBOL, PRICE, PERCENT, { ...CHANGE, rank: 4 }, VOLUME, OPEN, HIGH, LOW];
const FITTED_EVERY_MS = 2000;

/** The stocks of the market that fit what the reader asks for. */
export function Screener(memory: Memory) {
  const answer = useAnswer(() => rest.call("GET /api/market/heatmap"), "screener", { active: useVisible() });
  return <AnswerView answer={answer}>{(map) => <Stocks map={map} {...memory} />}</AnswerView>;
}

function Stocks({ map, memory, remember }: Memory & { readonly map: Heatmap }) {
  const screen: Screen = memory;
  const address = withScreen("", memory);
  // With the rows that it selects, so that no load of the page comes between.
  useLayoutEffect(() => nameScreen(memory), [address]);
  useLayoutEffect(() => () => nameScreen({}), []);
  const tickers = useMemo(() => map.sectors.flatMap(({ stocks }) => stocks.map((each) => each.ticker)), [map]);
  const fitting = useFitting(tickers, screen);
  const rows = useMemo(
    () =>
      fitting
        .split(" ")
        .filter(Boolean)
        .map((each) => instrumentOf("stock", each)),
    [fitting],
  );
  const sectors = map.sectors.map((each) => each.sector);
  return (
    <>
      <search class="tools screen" aria-label={say("screener")}>
        <Select name="sector" options={sectors} any="anySector" text={sectorName} {...{ screen, remember }} />
        <Select
          name="signal"
          options={SIGNALS.slice(1)}
          any="anySignal"
          text={(each) => say(each as (typeof SIGNALS)[number])}
          {...{ screen, remember }}
        />
        {BOUNDS.map((name) => (
          <input
            key={name}
            type="number"
            step="any"
            placeholder={say(name)}
            aria-label={say(name)}
            value={screen[name] ?? ""}
            onInput={(event) => remember({ [name]: event.currentTarget.value })}
          />
        ))}
        <span class="quiet" role="status">
          {say("fittingStocks", { count: rows.length, all: tickers.length })}
        </span>
      </search>
      <LiveTable
        label={say("screener")}
        rows={rows}
        columns={COLUMNS}
        sort={memory.sort || "-changePercent"}
        onSort={(sort) => remember({ sort })}
      />
    </>
  );
}

interface SelectProps extends Pick<Memory, "remember"> {
  readonly screen: Screen;
  readonly name: "sector" | "signal";
  readonly options: readonly string[];
  readonly any: "anySector" | "anySignal";
  readonly text: (option: string) => string;
}

function Select({ screen, remember, name, options, any, text }: SelectProps) {
  return (
    <select
      aria-label={say(name)}
      value={screen[name] ?? ""}
      onChange={(event) => remember({ [name]: event.currentTarget.value })}
    >
      <option value="">{say(any)}</option>
      {options.map((each) => (
        <option key={each} value={each}>
          {text(each)}
        </option>
      ))}
    </select>
  );
}

/** Returns the tickers that fit, looked through every two seconds; follows all of them while the pane is in view. */
function useFitting(tickers: readonly string[], screen: Screen): string {
  const visible = useVisible();
  const [, setRound] = useState(0);
  useEffect(() => {
    if (!visible) return;
    const ends = tickers.map((each) => live.watch("market", each, () => undefined));
    const update = () => setRound((count) => count + 1);
    const timer = setInterval(() => live.onNextFlush(update), FITTED_EVERY_MS);
    return () => {
      clearInterval(timer);
      for (const end of ends) end();
    };
  }, [tickers, visible]);
  const isFitting = (ticker: string) => {
    const quote = live.quote("market", ticker);
    return quote !== undefined && fits(quote as StockQuote, screen);
  };
  return tickers.filter(isFitting).join(" ");
}
