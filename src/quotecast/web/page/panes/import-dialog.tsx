import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError, type FieldProblem, type Imported } from "quotecast-client";
import { Form } from "../form.tsx";
import { plain, price } from "../formats.ts";
import { explain, rest } from "../service.ts";
import { say } from "../words.ts";

/** Rows that the preview shows. */
const SHOWN = 20;

/** A file that the service has checked: its rows, or why it is refused. */
interface Checked {
  readonly csv: string;
  /** Makes a second try of the same import safe. */
  readonly key: string;
  readonly preview: Imported | null;
  readonly error: unknown;
}

interface Props {
  readonly onEnd: (added: number) => void;
}

/** Takes a CSV file, shows what the service understands or refuses, and imports all rows. */
export function ImportDialog({ onEnd }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [checked, setChecked] = useState<Checked | null>(null);
  const newest = useRef(0);
  useEffect(() => dialog.current?.showModal(), []);
  const check = async (event: Event) => {
    const file = (event.currentTarget as HTMLInputElement).files?.[0];
    const number = ++newest.current;
    // The button must not import the file that was chosen before.
    setChecked(null);
    if (!file) return;
    const csv = await file.text();
    const result = await rest.call("POST /api/portfolio/import", { csv, query: { dry_run: true } }).then(
      (preview) => ({ preview, error: null }),
      (error: unknown) => ({ preview: null, error }),
    );
    // The reader may have chosen another file in the meantime.
    if (number === newest.current) setChecked({ csv, key: randomKey(), ...result });
  };
  const send = async () => {
    if (!checked) return;
    const { count } = await rest.call("POST /api/portfolio/import", { csv: checked.csv, key: checked.key });
    onEnd(count);
  };
  return (
    <dialog ref={dialog} class="import" aria-label={say("importCsv")} onClose={() => onEnd(0)}>
      <Form
        send={send}
        button={say("importNow", { count: checked?.preview?.count ?? 0 })}
        disabled={!checked?.preview}
        onClose={() => onEnd(0)}
      >
        <label>
          {say("chooseFile")}
          <input type="file" accept=".csv,text/csv" required onChange={check} />
        </label>
        <p class="hint">{say("columnsOfFile")}</p>
        {checked && checked.error !== null && <Problems error={checked.error} />}
        {checked?.preview && <Preview {...checked.preview} />}
      </Form>
    </dialog>
  );
}

function Preview({ count, rows = [] }: Imported) {
  return (
    <div class="preview" tabIndex={0} role="region" aria-label={say("importReady", { count })}>
      <p role="status">{say("importReady", { count })}</p>
      <table>
        <tbody>
          {rows.slice(0, SHOWN).map((each, index) => (
            <tr key={index}>
              <th scope="row">{each.type ? each.ticker : `${each.ticker} ?`}</th>
              <td>{plain(each.shares)}</td>
              <td>
                {price(each.avg_cost)} <small>{each.currency}</small>
              </td>
              <td>{each.bought_at}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {count > SHOWN && <p class="quiet">{say("moreRows", { count: count - SHOWN })}</p>}
    </div>
  );
}

/** The problems of a file, each with its line and column. */
function Problems({ error }: { readonly error: unknown }) {
  const problems = error instanceof ApiError ? (error.problem.errors ?? []) : [];
  if (!problems.length)
    return (
      <p class="notice" role="alert">
        {explain(error)}
      </p>
    );
  return (
    <div class="preview notice" role="alert" tabIndex={0}>
      <ul>
        {problems.map((each, index) => (
          <li key={index}>{problemText(each)}</li>
        ))}
      </ul>
    </div>
  );
}

function problemText({ line, field, message }: FieldProblem): string {
  const place = [line === undefined ? "" : say("lineOfFile", { line }), field].filter(Boolean).join(", ");
  return place ? `${place}: ${message}` : message;
}

/** Returns a random text; `crypto.randomUUID` exists on secure pages only. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
