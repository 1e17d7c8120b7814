import { useMemo, useState } from "preact/hooks";

import type { HoldingShown, RateShown } from "../../client/index.ts";
import { difference, moment, percent, plain, price, tone } from "../formats.ts";
import { type Instrument, instrumentOf } from "../instruments.ts";
import { AnswerView, type Memory, useVisible } from "../pane.tsx";
import { useQuotes } from "../quotes.ts";
import { select } from "../selection.ts";
import { explain, rest, showError, useAnswer } from "../service.ts";
import { session } from "../session.ts";
import { openSignIn } from "../sign-in.tsx";
import { language, say } from "../words.ts";
import { ratesUsed, type Total, total, type Worth, worth } from "./gains.ts";

const CURRENCIES = ["USD", "TRY", "EUR"] as const;
type Currency = (typeof CURRENCIES)[number];
/** Interval of loading the rates between currencies; prices follow the feeds. */
const EVERY_MS = 15_000;

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

function Holdings({ memory, remember }: Memory) {
  const token = session.value?.token ?? "";
  const currency = CURRENCIES.find((each) => each === memory.currency) ?? (language.value === "tr" ? "TRY" : "USD");
  const answer = useAnswer(
    () => rest.call("GET /api/portfolio/holdings", { query: { include: "quote", currency } }),
    `${token} ${currency}`,
    { everyMs: EVERY_MS, active: useVisible() },
  );
  const choose = (each: Currency) => remember({ currency: each });
  return (
    <>
      <AnswerView answer={answer}>
        {(holdings) =>
          holdings.length ? (
            <Table holdings={holdings} currency={currency} onCurrency={choose} onChange={answer.again} />
          ) : (
            <p class="quiet">{say("emptyPortfolio")}</p>
          )
        }
      </AnswerView>
      <AddForm onAdded={answer.again} />
    </>
  );
}

interface TableProps {
  readonly holdings: readonly HoldingShown[];
  readonly currency: Currency;
  readonly onCurrency: (currency: Currency) => void;
  readonly onChange: () => void;
}

function Table({ holdings, currency, onCurrency, onChange }: TableProps) {
  const rows = useMemo(
    () => holdings.map((each) => (each.type ? instrumentOf(each.type, each.ticker) : null)),
    [holdings],
  );
  const known = rows.filter((each) => each !== null);
  const quotes = useQuotes(known, useVisible());
  const worths = holdings.map((each, index) =>
    worth(each, quotes[known.indexOf(rows[index] as Instrument)]?.price ?? null),
  );
  const sum = total(holdings, worths);
  return (
    <div class="holdings" tabIndex={0} role="region" aria-label={say("portfolio")}>
      <table>
        <thead>
          <tr>
            {(["symbol", "shares", "averageCost", "price", "value", "gain"] as const).map((word) => (
              <th key={word} class={LESS[word]} scope="col">
                {say(word)}
              </th>
            ))}
            <th class="action">
              <span class="unseen">{say("menu")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {holdings.map((each, index) => (
            <Row
              key={each.id}
              holding={each}
              row={rows[index] ?? null}
              worth={worths[index] as Worth}
              onChange={onChange}
            />
          ))}
        </tbody>
      </table>
      <Sum sum={sum} currency={currency} onCurrency={onCurrency} holdings={holdings} />
    </div>
  );
}

/** Classes of the columns that a narrow pane hides. */
const LESS: Record<string, string> = { averageCost: "cost", price: "price" };

interface RowProps {
  readonly holding: HoldingShown;
  readonly row: Instrument | null;
  readonly worth: Worth;
  readonly onChange: () => void;
}

function Row({ holding, row, worth, onChange }: RowProps) {
  const remove = (event: Event) => {
    event.stopPropagation();
    rest
      .call("DELETE /api/portfolio/holdings/{holding_id}", { path: { holding_id: holding.id } })
      .catch(showError)
      .then(onChange);
  };
  return (
    <tr onClick={row ? () => select(row) : undefined}>
      <th scope="row">
        {row ? (
          <button type="button" class="symbol">
            {holding.ticker}
          </button>
        ) : (
          <abbr title={say("unknownSymbol")}>{holding.ticker} ?</abbr>
        )}
      </th>
      <td>{plain(holding.shares)}</td>
      <td class={LESS.averageCost}>{price(holding.avg_cost)}</td>
      <td class={LESS.price}>{price(worth.price)}</td>
      <td>
        {price(worth.value)} <small>{holding.currency}</small>
      </td>
      <td data-tone={tone(worth.gain)}>
        {difference(worth.gain)} <small>{percent(worth.gainPercent)}</small>
      </td>
      <td class="action">
        <button type="button" class="icon" aria-label={say("remove", { symbol: holding.ticker })} onClick={remove}>
          ×
        </button>
      </td>
    </tr>
  );
}

interface SumProps extends Pick<TableProps, "holdings" | "currency" | "onCurrency"> {
  readonly sum: Total;
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

function AddForm({ onAdded }: { readonly onAdded: () => void }) {
  const [error, setError] = useState<unknown>(null);
  const add = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    const body = {
      ticker: String(given.get("ticker")),
      shares: Number(given.get("shares")),
      avg_cost: Number(given.get("cost")),
      currency: String(given.get("currency")),
    };
    try {
      await rest.call("POST /api/portfolio/holdings", { body });
      form.reset();
      setError(null);
      onAdded();
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <form class="add" aria-label={say("addHolding")} onSubmit={add}>
      <input name="ticker" required maxLength={32} placeholder={say("symbol")} aria-label={say("symbol")} />
      <input
        name="shares"
        required
        type="number"
        min="0"
        step="any"
        placeholder={say("shares")}
        aria-label={say("shares")}
      />
      <input
        name="cost"
        required
        type="number"
        min="0"
        step="any"
        placeholder={say("averageCost")}
        aria-label={say("averageCost")}
      />
      <select name="currency" aria-label={say("currency")}>
        {CURRENCIES.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <button type="submit" class="main">
        {say("add")}
      </button>
      {error !== null && (
        <p class="notice" role="alert">
          {explain(error)}
        </p>
      )}
    </form>
  );
}
