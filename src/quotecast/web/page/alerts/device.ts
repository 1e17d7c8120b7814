import { ApiError, type EventShown } from "quotecast-client";
import { live, rest } from "../service.ts";
import { storedSignal } from "../stored.ts";
import { say } from "../words.ts";
import { numbers } from "./numbers.ts";
import { noticeOf } from "./text.ts";

/** The way in which this device gets notifications: by Web Push, while the page is open, or not at all. */
export type Way = "push" | "open" | "none";

/** The reader's choice; the browser's permission counts too. */
export const way = storedSignal<Way>("alertDevice", "none", (value): value is Way =>
  ["push", "open", "none"].includes(value as Way),
);
const NO_PUSH = 503;
/** An older event is news to the page only: the device had its time for it. */
const FRESH_MS = 120_000;

export const canNotify = (): boolean => "Notification" in globalThis && navigator.serviceWorker !== undefined;
export const isBlocked = (): boolean => canNotify() && Notification.permission === "denied";

/** Asks the reader for the permission, then subscribes this browser if the service has Web Push. */
export async function startNotifying(): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted") return;
  way.value = (await subscribe()) ? "push" : "open";
}

/** Returns whether the service sends to this browser from now on. */
async function subscribe(): Promise<boolean> {
  const registration = await navigator.serviceWorker.ready;
  if (!registration.pushManager) return false;
  try {
    const { public_key } = await rest.call("GET /api/alerts/push");
    const options = { userVisibleOnly: true, applicationServerKey: public_key };
    await give(await registration.pushManager.subscribe(options));
    return true;
  } catch (error) {
    // The service has no key, or the browser has no push service: the page itself notifies.
    if (error instanceof ApiError && error.status !== NO_PUSH) throw error;
    return false;
  }
}

const give = (subscription: PushSubscription) => {
  const { endpoint, keys } = subscription.toJSON();
  return rest.call("POST /api/alerts/push", {
    body: { endpoint: endpoint ?? "", keys: { p256dh: keys?.p256dh ?? "", auth: keys?.auth ?? "" } },
  });
};

/** Gives the service this browser's subscription again, which either of them may have lost. */
export async function renewSubscription(): Promise<void> {
  if (way.value !== "push") return;
  const registration = await navigator.serviceWorker?.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  if (subscription) await give(subscription);
  else way.value = "open";
}

/** Ends the subscription of a user who logs out; the push service tells the sender that it is gone. */
export async function forgetDevice(): Promise<void> {
  way.value = "none";
  const registration = await navigator.serviceWorker?.getRegistration();
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
}

/** Ends notifications on this device. */
export async function stopNotifying(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager?.getSubscription();
  if (subscription) {
    const { id } = await give(subscription);
    await rest.call("DELETE /api/alerts/push/{subscription_id}", { path: { subscription_id: id } });
    await subscription.unsubscribe();
  }
  // Last: after a failure the device still gets notifications, and the reader can end them.
  way.value = "none";
}

/** Shows an event as a notification; one that came by Web Push has the same tag, so that the device shows one. */
export async function notifyDevice(event: EventShown): Promise<void> {
  if (way.value === "none" || !canNotify() || Notification.permission !== "granted") return;
  if (live.serverTime() - Date.parse(event.happened_at) > FRESH_MS) return;
  const registration = await navigator.serviceWorker.getRegistration();
  const { title, text } = noticeOf(event, say, numbers);
  await registration?.showNotification(title, {
    body: text,
    tag: `alert-${event.id}`,
    icon: "/icons/192.png",
    data: { symbol: event.ticker, type: event.type },
  });
}
