import { difference, percent, price, tone } from "../../formats.ts";
import { useVisible } from "../../pane.tsx";
import { isReplay } from "../../replay-state.ts";
import { rest, useAnswer } from "../../service.ts";
import { say } from "../../words.ts";

/** Only the close comes from here: the price itself is the live one. */
const EVERY_MS = 15_000;

/** A stock's change since its last close, while it trades outside the regular session. */
export function ExtendedChange({ ticker, last }: { readonly ticker: string; readonly last: number | undefined }) {
  const ask = () => rest.call("GET /api/market/quotes/{symbol}", { path: { symbol: ticker } });
  const answer = useAnswer(ask, `extended ${ticker}`, { everyMs: EVERY_MS, active: useVisible() && !isReplay.value });
  const extended = answer.data?.extended;
  if (!extended || isReplay.value || last === undefined) return null;
  const change = last - extended.close;
  return (
    <span class="extended">
      {say(extended.session === "pre" ? "preMarket" : "afterHours")}{" "}
      <span data-tone={tone(change)}>
        {difference(change)} ({percent((change / extended.close) * 100)})
      </span>{" "}
      {say("closedAt", { price: price(extended.close) })}
    </span>
  );
}
