import type { Overview } from "quotecast-client";
import { compact, percent, plain, price, quotedPrice, tone } from "../formats.ts";
import { instrumentOf } from "../instruments.ts";
import { sectorName } from "../names.ts";
import { AnswerView, useVisible } from "../pane.tsx";
import { useQuotes } from "../quotes.ts";
import { useStock } from "../selection.ts";
import { rest, useAnswer } from "../service.ts";
import { say, type Word } from "../words.ts";
import { currenciesOf } from "./currencies.ts";
import { EarningsPlot, Recommendations } from "./plots.tsx";

/** The upstream states market capitalisation in millions. */
const MILLION = 1e6;

export function Company() {
  const ticker = useStock();
  const visible = useVisible();
  const [quote] = useQuotes([instrumentOf("stock", ticker)], visible);
  const answer = useAnswer(
    () => rest.call("GET /api/financials/company/{symbol}/overview", { path: { symbol: ticker } }),
    ticker,
    { active: visible },
  );
  return (
    <div class="company" tabIndex={0} role="region" aria-label={ticker}>
      <div class="headline">
        <h3>{ticker}</h3>
        <span class="name">{quote?.name}</span>
        <strong>{quotedPrice(ticker, quote?.price)}</strong>
        <span data-tone={tone(quote?.change)}>{percent(quote?.changePercent)}</span>
      </div>
      {quote && "sector" in quote && (
        <p class="quiet">
          {sectorName(quote.sector)} · {quote.industry}
        </p>
      )}
      <AnswerView answer={answer}>{(overview) => <Parts overview={overview} />}</AnswerView>
    </div>
  );
}

function Parts({ overview }: { readonly overview: Overview }) {
  return (
    <>
      <Metrics overview={overview} />
      <Abroad overview={overview} />
      <div class="figures">
        {overview.recommendations && <Recommendations months={overview.recommendations} />}
        {overview.earnings && <EarningsPlot quarters={overview.earnings} currency={currenciesOf(overview).earnings} />}
      </div>
    </>
  );
}

/** The currency of a foreign company's filings, and its listing at home. */
function Abroad({ overview }: { readonly overview: Overview }) {
  const { filings: currency } = currenciesOf(overview);
  const notes = [currency && say("figuresIn", { currency }), overview.metrics?.homeSymbol].filter(Boolean);
  return notes.length ? <p class="quiet">{notes.join(" · ")}</p> : null;
}

function Metrics({ overview }: { readonly overview: Overview }) {
  const metric = overview.metrics?.metric ?? {};
  const number = (name: string) => (typeof metric[name] === "number" ? (metric[name] as number) : null);
  const share = (name: string) => (number(name) === null ? plain(null) : percent(number(name)).replace("+", ""));
  const [quality, next] = [overview.earningsQuality?.data[0], overview.revenueEstimates?.data.at(-1)];
  const [capital, sales] = [number("marketCapitalization"), number("psTTM")];
  const estimatedIn = next && currenciesOf(overview).revenueEstimates;
  const quarter = next ? `${next.quarter ? `Q${next.quarter} ` : ""}${next.year ?? ""}` : "";
  const rows: [Word, string, string?][] = [
    ["marketCap", compact(capital === null ? null : capital * MILLION)],
    ["pe", plain(number("peTTM"))],
    ["eps", plain(number("epsTTM"))],
    ["beta", plain(number("beta"))],
    ["dividendYield", share("dividendYieldIndicatedAnnual")],
    ["margin", share("netProfitMarginTTM")],
    ["weekRange", `${price(number("52WeekLow"))} – ${price(number("52WeekHigh"))}`],
    ["revenue", compact(capital === null || !sales ? null : (capital / sales) * MILLION)],
    ["revenueEstimate", [compact(next?.revenueAvg ?? null), estimatedIn].filter(Boolean).join(" "), quarter],
    ["earningsQuality", quality ? `${quality.letterScore ?? "–"} (${plain(quality.score)})` : "–"],
  ];
  return (
    <dl class="metrics">
      {rows.map(([name, text, of = ""]) => (
        <div key={name}>
          <dt>{say(name, { of })}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
