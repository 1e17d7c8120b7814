import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { AlertShown } from "quotecast-client";
import { Form } from "../form.tsx";
import { type EntryType, instrumentOf, typeOf } from "../instruments.ts";
import { live } from "../service.ts";
import { session } from "../session.ts";
import { openSignIn } from "../sign-in.tsx";
import { say } from "../words.ts";
import { type Draft, draft } from "./open.ts";
import { addAlert, changeAlert } from "./store.ts";
import { SymbolField } from "./symbol-field.tsx";
import { CONDITION_NAMES, CONDITIONS, isOfPrice, WINDOW_NAMES, WINDOWS } from "./text.ts";

const FIRST_PERCENT = "5";

/** A dialog that adds an alert or changes one. */
export function AlertDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const about = draft.value as Draft;
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => dialog.current?.close();
  const symbol = about.instrument.key;
  const title = about.alert ? say("alertChange", { symbol }) : say("alertAdd");
  return (
    <dialog
      ref={dialog}
      class="alert-dialog"
      aria-labelledby="alert-title"
      onClose={() => {
        draft.value = null;
      }}
    >
      <h2 id="alert-title">{title}</h2>
      {session.value ? <AlertForm about={about} onDone={close} /> : <Invitation onClose={close} />}
    </dialog>
  );
}

function Invitation({ onClose }: { readonly onClose: () => void }) {
  return (
    <>
      <p>{say("alertSignIn")}</p>
      <div class="row">
        <button type="button" onClick={onClose}>
          {say("close")}
        </button>
        <button
          type="button"
          class="main"
          onClick={() => {
            onClose();
            openSignIn();
          }}
        >
          {say("logIn")}
        </button>
      </div>
    </>
  );
}

function AlertForm({ about: { instrument, alert }, onDone }: { readonly about: Draft; readonly onDone: () => void }) {
  const [ticker, setTicker] = useState(instrument.key);
  const [type, setType] = useState<EntryType>(typeOf(instrument));
  const [condition, setCondition] = useState<AlertShown["condition"]>(alert?.condition ?? "above");
  const ofPrice = isOfPrice(condition);
  // What the reader typed stays; a proposed price follows the symbol.
  const [typed, setTyped] = useState(alert ? String(alert.value) : null);
  const proposed = useMemo(() => (ofPrice ? priceOf(type, ticker) : FIRST_PERCENT), [ofPrice, type, ticker]);
  const value = typed ?? proposed;
  const chooseSymbol = (nextTicker: string, nextType: EntryType) => {
    setTicker(nextTicker);
    setType(nextType);
  };
  const chooseCondition = (next: AlertShown["condition"]) => {
    if (isOfPrice(next) !== ofPrice) setTyped(null);
    setCondition(next);
  };
  const send = async (fields: FormData) => {
    const given = {
      condition,
      value: Number(value),
      window: ofPrice ? null : (fields.get("window") as AlertShown["window"]),
      note: String(fields.get("note") ?? ""),
      repeats: fields.has("repeats"),
      webhook: fields.has("webhook"),
      push: fields.has("push"),
    };
    await (alert ? changeAlert(alert.id, given) : addAlert({ ticker: ticker.trim(), type, ...given }));
    onDone();
  };
  return (
    <Form send={send} button={say(alert ? "alertSave" : "alertCreate")} onClose={onDone}>
      {!alert && <SymbolField ticker={ticker} type={type} onChoose={chooseSymbol} />}
      <label>
        {say("alertCondition")}
        <select
          name="condition"
          value={condition}
          onChange={(event) => chooseCondition(event.currentTarget.value as AlertShown["condition"])}
        >
          {CONDITIONS.map((each) => (
            <option key={each} value={each}>
              {say(CONDITION_NAMES[each])}
            </option>
          ))}
        </select>
      </label>
      <div class="pair">
        <label>
          {ofPrice ? say("price") : "%"}
          <input
            type="number"
            name="value"
            required
            min="0"
            step="any"
            value={value}
            aria-label={say("alertValue")}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        {!ofPrice && (
          <label>
            {say("alertWindow")}
            <select name="window">
              {WINDOWS.map((each) => (
                <option key={each} value={each} selected={each === (alert?.window ?? "day")}>
                  {say(WINDOW_NAMES[each])}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <label>
        {say("alertNote")}
        <input name="note" maxLength={200} defaultValue={alert?.note} />
      </label>
      <fieldset>
        <Check name="repeats" label={say("alertRepeats")} checked={alert?.repeats ?? false} />
        <Check name="webhook" label={say("alertWebhook")} checked={alert?.webhook ?? false} />
        <Check name="push" label={say("alertPush")} checked={alert?.push ?? true} />
      </fieldset>
    </Form>
  );
}

function Check({ name, label, checked }: { readonly name: string; readonly label: string; readonly checked: boolean }) {
  return (
    <label class="check">
      <input type="checkbox" name={name} defaultChecked={checked} /> {label}
    </label>
  );
}

/** Returns the last price as a field takes it; empty without one. */
function priceOf(type: EntryType, ticker: string): string {
  const { feed, key } = instrumentOf(type, ticker);
  return String(live.present(feed, key)?.price ?? "");
}
