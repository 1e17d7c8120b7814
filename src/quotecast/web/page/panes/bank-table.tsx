import { useEffect, useMemo, useState } from "preact/hooks";

import { ApiError, type DovizQuote } from "quotecast-client";
import { moment, price, quotedPrice } from "../formats.ts";
import { instrumentOf } from "../instruments.ts";
import { instrumentName } from "../names.ts";
import { useVisible } from "../pane.tsx";
import { useQuotes } from "../quotes.ts";
import { isReplay } from "../replay-state.ts";
import { rest } from "../service.ts";
import { say } from "../words.ts";
import type { Category, Offer } from "./banks.ts";
import { POINT_EVERY_MS, pastMoments, SpreadHistory, spreadPath } from "./spreads.ts";

const [WIDTH, HEIGHT, MARGIN] = [56, 16, 1];
const history = new SpreadHistory();
const spreadOf = ({ selling, buying }: DovizQuote): number => selling - buying;

/** Buying and selling price of each bank, and its spread over time; marks the best of each side, in words too. */
export function Banks({ category, offer }: { readonly category: Category; readonly offer: Offer }) {
  const name = instrumentName(instrumentOf("doviz", offer.symbol), offer.name);
  const rows = useMemo(() => offer.banks.map((each) => instrumentOf("doviz", each.symbol)), [offer]);
  const visible = useVisible();
  const quotes = useQuotes(rows, visible).filter((quote) => quote !== undefined) as DovizQuote[];
  usePast(category, visible);
  useEffect(() => {
    if (isReplay.value) return;
    const now = Date.now();
    for (const each of quotes) history.note(each.symbol, spreadOf(each), now);
  });
  useTicks(POINT_EVERY_MS, visible);
  const best = {
    buying: Math.max(...quotes.map((each) => each.buying)),
    selling: Math.min(...quotes.map((each) => each.selling)),
  };
  return (
    <div class="banks" tabIndex={0} role="region" aria-label={`${name}: ${say("source")}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{name}</th>
            <th scope="col">{say("buying")}</th>
            <th scope="col">{say("selling")}</th>
            <th class="spread" scope="col">
              {say("spread")}
            </th>
            <th class="spread-line" scope="col">
              <span class="unseen">{say("spreadLine")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {quotes.map((quote) => (
            <tr key={quote.symbol}>
              <th scope="row">{quote.source}</th>
              <Side symbol={quote.symbol} value={quote.buying} best={best.buying} note={say("bestBuy")} />
              <Side symbol={quote.symbol} value={quote.selling} best={best.selling} note={say("bestSell")} />
              <td class="spread">{price(spreadOf(quote))}</td>
              <td class="spread-line">
                <SpreadLine quote={quote} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface SideProps {
  readonly symbol: string;
  readonly value: number;
  readonly best: number;
  readonly note: string;
}

function Side({ symbol, value, best, note }: SideProps) {
  const isBest = value === best;
  return (
    <td class={isBest ? "best" : undefined} title={isBest ? note : undefined}>
      {isBest && (
        <span class="star" aria-hidden="true">
          ★{" "}
        </span>
      )}
      {quotedPrice(symbol, value)}
      {isBest && <span class="unseen"> {note}</span>}
    </td>
  );
}

function SpreadLine({ quote }: { readonly quote: DovizQuote }) {
  const points = [...history.of(quote.symbol), { at: Date.now(), spread: spreadOf(quote) }];
  const path = spreadPath(points, WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN);
  const first = points[0];
  if (!path || !first || isReplay.value) return null;
  const label = say("spreadOver", {
    source: quote.source,
    time: moment(new Date(first.at).toISOString()),
    first: price(first.spread),
    last: price(spreadOf(quote)),
    most: price(Math.max(...points.map((each) => each.spread))),
  });
  return (
    <svg
      viewBox={`${-MARGIN} ${-MARGIN} ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <path d={path} />
    </svg>
  );
}

/** Categories whose past the page has asked for. */
const asked = new Set<string>();

/** Loads the spreads of recorded moments once, from the newest back to the first that is not recorded. */
function usePast(category: Category, active: boolean): void {
  const [, setLoaded] = useState(0);
  useEffect(() => {
    if (!active || asked.has(category)) return;
    asked.add(category);
    void (async () => {
      for (const at of pastMoments(Date.now())) {
        if (!(await loadPast(category, at))) break;
        setLoaded((count) => count + 1);
      }
    })();
  }, [category, active]);
}

/** Returns whether the moment is recorded. */
async function loadPast(category: Category, at: number): Promise<boolean> {
  try {
    const query = { category, at: new Date(at).toISOString() };
    const quotes = await rest.call("GET /api/doviz/quotes", { query });
    for (const quote of Object.values(quotes)) history.insert(quote.symbol, spreadOf(quote), at);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) asked.delete(category);
    return false;
  }
}

/** Renders again from time to time, so that the lines reach to the present. */
function useTicks(everyMs: number, active: boolean): void {
  const [, setTick] = useState(0);
  useEffect(() => {
    if (!active) return;
    const timer = setInterval(() => setTick((count) => count + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, active]);
}
