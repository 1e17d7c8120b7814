import { useState } from "preact/hooks";

import { explain } from "../service.ts";
import { say } from "../words.ts";
import { canNotify, isBlocked, startNotifying, stopNotifying, way } from "./device.ts";
import { WebhookSettings } from "./webhook.tsx";

/** The channels by which the service delivers events outside of the page. */
export function Channels() {
  return (
    <div class="channels">
      <Device />
      <WebhookSettings />
    </div>
  );
}

function Device() {
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const notified = way.value !== "none";
  const change = async () => {
    setBusy(true);
    setError(null);
    try {
      await (notified ? stopNotifying() : startNotifying());
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <section aria-label={say("deviceTitle")}>
      <h3>{say("deviceTitle")}</h3>
      <p role="status">{say(stateOfDevice())}</p>
      {error !== null && (
        <p class="notice" role="alert">
          {explain(error)}
        </p>
      )}
      <button type="button" disabled={busy || !canNotify()} onClick={() => void change()}>
        {say(notified ? "deviceStop" : "deviceNotify")}
      </button>
    </section>
  );
}

function stateOfDevice() {
  if (!canNotify()) return "deviceUnable";
  if (isBlocked()) return "deviceBlocked";
  return way.value === "push" ? "deviceNotified" : way.value === "open" ? "deviceOnlyOpen" : "deviceEnded";
}
