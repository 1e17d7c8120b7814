import { effect, signal } from "@preact/signals";

import type { AlertChange, AlertShown, NewAlert } from "quotecast-client";
import { putBack } from "../lists.ts";
import { rest, showError } from "../service.ts";
import { session } from "../session.ts";

/** The user's alerts, the newest first; null before the first answer. */
export const alerts = signal<readonly AlertShown[] | null>(null);
/** The alert that was deleted last, for which the page offers to undo that. */
export const deleted = signal<AlertShown | null>(null);

effect(() => {
  if (session.value) return;
  alerts.value = null;
  deleted.value = null;
});

export async function loadAlerts(): Promise<void> {
  const user = session.value?.user.id;
  if (!user) return;
  const found = await rest.call("GET /api/alerts");
  if (session.value?.user.id === user) alerts.value = found;
}

export async function addAlert(given: NewAlert): Promise<AlertShown> {
  const added = await rest.call("POST /api/alerts", { body: given });
  alerts.value = [added, ...(alerts.value ?? [])];
  return added;
}

export async function changeAlert(id: string, change: AlertChange): Promise<void> {
  const changed = await rest.call("PATCH /api/alerts/{alert_id}", { path: { alert_id: id }, body: change });
  alerts.value = (alerts.value ?? []).map((each) => (each.id === id ? changed : each));
}

type Change = (present: readonly AlertShown[]) => readonly AlertShown[];

/** Changes the page at once; a failed request reverts this change, and no other, and says why. */
async function attempt(next: Change, request: () => Promise<unknown>, revert: Change): Promise<boolean> {
  const user = session.value?.user.id;
  if (alerts.value) alerts.value = next(alerts.value);
  try {
    await request();
    return true;
  } catch (error) {
    if (session.value?.user.id === user && alerts.value) alerts.value = revert(alerts.value);
    showError(error);
    return false;
  }
}

/** Pauses an alert or starts it. */
export async function setActive({ id, active: before }: AlertShown, active: boolean): Promise<void> {
  const put =
    (value: boolean): Change =>
    (present) =>
      present.map((each) => (each.id === id ? { ...each, active: value } : each));
  await attempt(put(active), () => changeAlert(id, { active }), put(before));
}

export async function deleteAlert(alert: AlertShown): Promise<void> {
  const before = alerts.value ?? [];
  const isDone = await attempt(
    (present) => present.filter((each) => each.id !== alert.id),
    () => rest.call("DELETE /api/alerts/{alert_id}", { path: { alert_id: alert.id } }),
    (present) => putBack(present, alert, before, (a, b) => a.id === b.id),
  );
  if (isDone) deleted.value = alert;
}

/** Adds the deleted alert again; it has another id, and waits from now on. */
export async function restoreAlert(): Promise<void> {
  const lost = deleted.value;
  if (!lost) return;
  deleted.value = null;
  const { ticker, type, condition, value, window, note, repeats, webhook, push } = lost;
  try {
    const added = await addAlert({ ticker, type, condition, value, window, note, repeats, webhook, push });
    if (!lost.active) await changeAlert(added.id, { active: false });
  } catch (error) {
    showError(error);
  }
}
