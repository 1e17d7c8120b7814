import { useMemo, useState } from "preact/hooks";

import type { HoldingShown } from "../../client/index.ts";
import { percent, plain, price, signed, tone } from "../formats.ts";
import { instrumentOf, type Instrument } from "../instruments.ts";
import { useValue } from "../observable.ts";
import { Answered, useVisible } from "../pane.tsx";
import { useQuotes } from "../quotes.ts";
import { selected } from "../selection.ts";
import { explained, rest, useAnswer } from "../service.ts";
import { session } from "../session.ts";
import { signInShown } from "../sign-in.tsx";
import { useWords } from "../words.ts";
import { totals, worth } from "./gains.ts";

export function Portfolio() {
  const say = useWords();
  if (useValue(session)) return <Holdings />;
  return (
    <div class="invitation">
      <p>{say("signInForPortfolio")}</p>
      <button class="main" onClick={() => signInShown.set(true)}>{say("logIn")}</button>
    </div>
  );
}

function Holdings() {
  const say = useWords();
  const token = useValue(session)?.token ?? "";
  const asked = useAnswer(() => rest.call("GET /api/portfolio/holdings", { query: { include: "quote" } }), token, { active: useVisible() });
  return (
    <>
      <Answered asked={asked}>
        {(holdings) => (holdings.length ? <Table holdings={holdings} onChange={asked.again} /> : <p class="quiet">{say("emptyPortfolio")}</p>)}
      </Answered>
      <AddForm onAdded={asked.again} />
    </>
  );
}

const instrument = (holding: HoldingShown): Instrument =>
  instrumentOf(holding.ticker.includes("/") ? "crypto" : holding.currency === "USD" ? "stock" : "doviz", holding.ticker);

function Table({ holdings, onChange }: { readonly holdings: readonly HoldingShown[]; readonly onChange: () => void }) {
  const say = useWords();
  const rows = useMemo(() => holdings.map(instrument), [holdings]);
  const quotes = useQuotes(rows, useVisible());
  // The service knows best whether a holding has a quote in its currency; the feed knows the newest price.
  const worths = holdings.map((each, index) => worth(each, each.price === null ? null : (quotes[index]?.price ?? each.price ?? null)));
  const remove = (holding: HoldingShown) =>
    void rest.call("DELETE /api/portfolio/holdings/{holding_id}", { path: { holding_id: holding.id } }).then(onChange, onChange);
  return (
    <div class="holdings" tabIndex={0} role="region" aria-label={say("portfolio")}>
      <table>
        <thead>
          <tr>
            {(["symbol", "shares", "averageCost", "price", "value", "gain"] as const).map((word) => <th key={word} scope="col">{say(word)}</th>)}
            <th class="action"><span class="unseen">{say("menu")}</span></th>
          </tr>
        </thead>
        <tbody>
          {holdings.map((holding, index) => (
            <tr key={holding.id} onClick={() => selected.set(rows[index] as Instrument)}>
              <th scope="row"><button class="symbol">{holding.ticker}</button></th>
              <td>{plain(holding.shares)}</td>
              <td>{price(holding.avg_cost)}</td>
              <td>{price(worths[index]?.price)}</td>
              <td>{price(worths[index]?.value)} {holding.currency}</td>
              <td data-tone={tone(worths[index]?.gain)}>{signed(worths[index]?.gain)} ({percent(worths[index]?.gainPercent)})</td>
              <td class="action"><button class="icon" aria-label={say("remove", { symbol: holding.ticker })} onClick={(event) => (event.stopPropagation(), remove(holding))}>×</button></td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          {[...totals(holdings, worths)].map(([currency, sum]) => (
            <tr key={currency}>
              <th scope="row">{say("total")}</th>
              <td colSpan={3} />
              <td>{price(sum.value)} {currency}</td>
              <td data-tone={tone(sum.gain)}>{signed(sum.gain)}</td>
              <td />
            </tr>
          ))}
        </tfoot>
      </table>
    </div>
  );
}

function AddForm({ onAdded }: { readonly onAdded: () => void }) {
  const say = useWords();
  const [error, setError] = useState<unknown>(null);
  const add = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    const body = { ticker: String(given.get("ticker")), shares: Number(given.get("shares")), avg_cost: Number(given.get("cost")), currency: String(given.get("currency")) };
    rest.call("POST /api/portfolio/holdings", { body }).then(() => (form.reset(), setError(null), onAdded()), setError);
  };
  return (
    <form class="add" aria-label={say("addHolding")} onSubmit={add}>
      <input name="ticker" required maxLength={32} placeholder={say("symbol")} aria-label={say("symbol")} />
      <input name="shares" required type="number" min="0" step="any" placeholder={say("shares")} aria-label={say("shares")} />
      <input name="cost" required type="number" min="0" step="any" placeholder={say("averageCost")} aria-label={say("averageCost")} />
      <select name="currency" aria-label={say("currency")}>
        {["USD", "TRY", "EUR"].map((each) => <option key={each}>{each}</option>)}
      </select>
      <button class="main">{say("add")}</button>
      {error !== null && <p class="notice" role="alert">{explained(error)}</p>}
    </form>
  );
}
