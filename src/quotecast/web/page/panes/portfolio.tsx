import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";

import type { HoldingShown, RateShown } from "quotecast-client";
import { difference, moment, price, tone } from "../formats.ts";
import { instrumentOf } from "../instruments.ts";
import { AnswerView, Choice, type Memory, useVisible } from "../pane.tsx";
import { useQuotes } from "../quotes.ts";
import { rest, showError, useAnswer } from "../service.ts";
import { session } from "../session.ts";
import { openSignIn } from "../sign-in.tsx";
import { language, say } from "../words.ts";
import { Allocation } from "./allocation.tsx";
import { ratesUsed, type Total, total, worth } from "./gains.ts";
import { AddForm, CURRENCIES, type Currency } from "./holding-form.tsx";
import { HoldingsTable } from "./holdings-table.tsx";
import { ImportDialog } from "./import-dialog.tsx";
import { groupLots, isExact, type Lot } from "./positions.ts";
import { ValueChart } from "./value-chart.tsx";

/** Interval of loading the rates between currencies; prices follow the feeds. */
const EVERY_MS = 15_000;
const VIEWS = ["holdings", "allocation", "history"] as const;

export function Portfolio(memory: Memory) {
  if (session.value) return <Holdings {...memory} />;
  return (
    <div class="invitation">
      <p>{say("signInForPortfolio")}</p>
      <button type="button" class="main" onClick={openSignIn}>
        {say("logIn")}
      </button>
    </div>
  );
}

function Holdings(pane: Memory) {
  const { memory, remember } = pane;
  const currency = CURRENCIES.find((each) => each === memory.currency) ?? (language.value === "tr" ? "TRY" : "USD");
  const view = VIEWS.find((each) => each === memory.view) ?? "holdings";
  const answer = useAnswer(
    () => rest.call("GET /api/portfolio/holdings", { query: { include: "quote", currency } }),
    `${session.value?.user.id} ${currency}`,
    { everyMs: EVERY_MS, active: useVisible() },
  );
  return (
    <>
      <div class="tools">
        <Choice
          label={say("portfolio")}
          options={VIEWS}
          value={view}
          text={(each) => say(each)}
          onChoose={(each) => remember({ view: each })}
        />
        <Files onAdded={answer.again} />
      </div>
      <AnswerView answer={answer}>
        {(holdings) => <View {...pane} view={view} holdings={holdings} currency={currency} onChange={answer.again} />}
      </AnswerView>
      {view === "holdings" && <AddForm onAdded={answer.again} />}
    </>
  );
}

/** Buttons that export and import the holdings. */
function Files({ onAdded }: { readonly onAdded: () => void }) {
  const [importing, setImporting] = useState(false);
  const [added, setAdded] = useState(0);
  const end = (count: number) => {
    setImporting(false);
    setAdded(count);
    if (count) onAdded();
  };
  const exportFile = () => rest.call("GET /api/portfolio/export").then(saveFile).catch(showError);
  return (
    <span class="files">
      <span role="status">{added > 0 && say("importDone", { count: added })}</span>
      <button type="button" onClick={() => setImporting(true)}>
        {say("importCsv")}
      </button>
      <button type="button" onClick={exportFile}>
        {say("exportCsv")}
      </button>
      {importing && <ImportDialog onEnd={end} />}
    </span>
  );
}

function saveFile(csv: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
  link.download = "holdings.csv";
  link.click();
  URL.revokeObjectURL(link.href);
}

interface ViewProps extends Memory {
  readonly view: (typeof VIEWS)[number];
  readonly holdings: readonly HoldingShown[];
  readonly currency: Currency;
  readonly onChange: () => void;
}

function View({ view, holdings, currency, onChange, ...pane }: ViewProps) {
  const lots = useLots(holdings);
  const worths = lots.map((each) => each.worth);
  const empty = holdings.length === 0 && <p class="quiet">{say("emptyPortfolio")}</p>;
  if (empty && view !== "holdings") return empty;
  if (view === "allocation") return <Allocation {...pane} lots={lots} currency={currency} />;
  if (view === "history") {
    const revision = holdings.map(({ id, shares, bought_at }) => `${id} ${shares} ${bought_at}`).join();
    return <ValueChart {...pane} currency={currency} revision={revision} />;
  }
  return (
    <div class="holdings" role="region" aria-label={say("portfolio")}>
      <Removable onChange={onChange}>
        {(remove) => empty || <HoldingsTable positions={groupLots(lots)} onRemove={remove} onChange={onChange} />}
      </Removable>
      {!empty && (
        <Sum
          sum={total(holdings, worths)}
          currency={currency}
          onCurrency={(each) => pane.remember({ currency: each })}
          holdings={holdings}
        />
      )}
    </div>
  );
}

/** Returns the holdings with their worth at the feeds' prices. */
function useLots(holdings: readonly HoldingShown[]): Lot[] {
  const rows = useMemo(
    () => holdings.map((each) => (each.type ? instrumentOf(each.type, each.ticker) : null)),
    [holdings],
  );
  const known = useMemo(() => rows.filter((each) => each !== null), [rows]);
  const quotes = useQuotes(known, useVisible());
  let next = 0;
  return holdings.map((holding, index) => {
    const quote = rows[index] ? quotes[next++] : undefined;
    return { holding, worth: worth(holding, quote?.price ?? null) };
  });
}

interface RemovableProps {
  readonly onChange: () => void;
  readonly children: (remove: (holding: HoldingShown) => void) => ComponentChildren;
}

/** Removes holdings, and offers to add the last one again. */
function Removable({ onChange, children }: RemovableProps) {
  const [removed, setRemoved] = useState<HoldingShown | null>(null);
  const remove = async (holding: HoldingShown) => {
    // A number that lost digits on its way here cannot be sent again.
    const restorable = isExact(holding.shares) && isExact(holding.avg_cost);
    if (!restorable && !confirm(say("confirmRemoval", { symbol: holding.ticker }))) return;
    try {
      await rest.call("DELETE /api/portfolio/holdings/{holding_id}", { path: { holding_id: holding.id } });
      setRemoved(restorable ? holding : null);
    } catch (error) {
      showError(error);
    }
    onChange();
  };
  const restore = async (holding: HoldingShown) => {
    const { id, ticker, shares, avg_cost, bought_at, currency } = holding;
    setRemoved(null);
    try {
      // The key lets the reader undo once more after an answer that was lost.
      await rest.call("POST /api/portfolio/holdings", {
        body: { ticker, shares, avg_cost, bought_at, currency },
        key: id,
      });
    } catch (error) {
      setRemoved(holding);
      showError(error);
    }
    onChange();
  };
  return (
    <>
      {children(remove)}
      <div role="status">
        {removed && (
          <p class="notice removed">
            {say("removed", { symbol: removed.ticker })}
            <button type="button" onClick={() => restore(removed)}>
              {say("undo")}
            </button>
          </p>
        )}
      </div>
    </>
  );
}

interface SumProps {
  readonly sum: Total;
  readonly holdings: readonly HoldingShown[];
  readonly currency: Currency;
  readonly onCurrency: (currency: Currency) => void;
}

/** The total in one currency, the holdings that it leaves out, and its exchange rates. */
function Sum({ sum, currency, onCurrency, holdings }: SumProps) {
  const rates = ratesUsed(holdings);
  const why = (each: HoldingShown) =>
    !each.type
      ? say("unknownSymbol")
      : each.rates
        ? say("noRate", { from: each.currency, to: currency })
        : say("noRate", { from: each.ticker, to: each.currency });
  return (
    <div class="sum">
      <label>
        {say("totalIn")}{" "}
        <select
          aria-label={say("currency")}
          value={currency}
          onChange={(event) => onCurrency(event.currentTarget.value as Currency)}
        >
          {CURRENCIES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <strong>
        {price(sum.value)} {currency}
      </strong>
      <span data-tone={tone(sum.gain)}>{difference(sum.gain)}</span>
      {sum.missing.length > 0 && (
        <p class="notice">
          {say("notInTotal", { symbols: sum.missing.map((each) => `${each.ticker} (${why(each)})`).join(", ") })}
        </p>
      )}
      {rates.length > 0 && (
        <p class="rates">
          {say("ratesUsed")}: {rates.map(rateText).join(" · ")}
        </p>
      )}
    </div>
  );
}

/** Returns a rate with its source: `1 USD = 40.00 TRY (USD, 12:05)`. */
function rateText({ from, to, rate, symbol, timestamp }: RateShown): string {
  const source = timestamp ? `${symbol}, ${moment(timestamp)}` : symbol;
  return `1 ${from} = ${price(rate)} ${to} (${source})`;
}
