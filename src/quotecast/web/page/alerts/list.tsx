import { useLayoutEffect, useRef } from "preact/hooks";

import type { AlertShown } from "quotecast-client";
import { difference, percent } from "../formats.ts";
import { instrumentOf } from "../instruments.ts";
import { useSelect } from "../selection.ts";
import { live } from "../service.ts";
import { requireTabStop, walkItems } from "../tab-stop.ts";
import { language, say } from "../words.ts";
import { numbers } from "./numbers.ts";
import { editAlert } from "./open.ts";
import { deleteAlert, deleted, restoreAlert, setActive } from "./store.ts";
import { distanceOf, isOfPrice, phraseOf } from "./text.ts";

/** The alerts, each with its live distance; one stop of the Tab key, in which the arrows move. */
export function AlertList({ rows }: { readonly rows: readonly AlertShown[] }) {
  const table = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => requireTabStop(table.current, "tbody button"));
  return (
    <>
      {deleted.value && (
        <p class="notice" role="status">
          {say("alertDeleted", { symbol: deleted.value.ticker })}{" "}
          <button type="button" onClick={() => void restoreAlert()}>
            {say("alertUndo")}
          </button>
        </p>
      )}
      {rows.length ? (
        <table ref={table} aria-label={say("alerts")} onKeyDown={(event) => walkItems(event, "tbody tr")}>
          <thead>
            <tr>
              <th scope="col">{say("symbol")}</th>
              <th scope="col">{say("alertCondition")}</th>
              <th scope="col">{say("alertDistance")}</th>
              <th scope="col">{say("alertState")}</th>
              <th class="action">
                <span class="unseen">{say("menu")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((alert) => (
              <Row key={alert.id} alert={alert} />
            ))}
          </tbody>
        </table>
      ) : (
        <p class="quiet">{say("alertNone")}</p>
      )}
    </>
  );
}

function Row({ alert }: { readonly alert: AlertShown }) {
  const symbol = alert.ticker;
  const select = useSelect();
  return (
    <tr data-active={alert.active}>
      <th scope="row">
        <button type="button" class="symbol" tabIndex={-1} onClick={() => select(instrumentOf(alert.type, symbol))}>
          {symbol}
        </button>
      </th>
      <td>
        {phraseOf(alert, say, numbers)}
        {alert.repeats && " ↻"}
        {alert.note && <small>{alert.note}</small>}
      </td>
      <Distance alert={alert} />
      <td>{say(alert.active ? "alertActive" : "alertOff")}</td>
      <td class="action">
        <Action
          sign={alert.active ? "‖" : "▶"}
          label={say(alert.active ? "alertPause" : "alertResume", { symbol })}
          onClick={() => void setActive(alert, !alert.active)}
        />
        <Action sign="✎" label={say("alertChange", { symbol })} onClick={() => editAlert(alert)} />
        <Action sign="×" label={say("alertDelete", { symbol })} onClick={() => void deleteAlert(alert)} />
      </td>
    </tr>
  );
}

function Action({ sign, label, onClick }: { sign: string; label: string; onClick: () => void }) {
  return (
    <button type="button" class="icon" tabIndex={-1} aria-label={label} title={label} onClick={onClick}>
      {sign}
    </button>
  );
}

/** The cell writes itself at each quote: a render for each would cost more. */
function Distance({ alert }: { readonly alert: AlertShown }) {
  const cell = useRef<HTMLTableCellElement>(null);
  const { feed, key } = instrumentOf(alert.type, alert.ticker);
  const words = language.value;
  useLayoutEffect(() => {
    const write = (text: string) => {
      const element = cell.current as HTMLTableCellElement;
      if (element.textContent !== text) element.textContent = text;
    };
    write("–");
    return live.watch(feed, key, (quote) => {
      const distance = distanceOf(alert, quote);
      if (distance !== null) write(isOfPrice(alert.condition) ? percent(distance) : `${difference(distance)} pp`);
    });
  }, [alert, words]);
  return <td class="distance" ref={cell} />;
}
