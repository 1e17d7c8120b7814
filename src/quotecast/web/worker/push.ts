// Web Push: shows the events of alerts while no window is open.

import type { EventShown } from "quotecast-client";
import { type AlertWord, noticeOf } from "../page/alerts/text.ts";
import { english, turkish } from "../page/words/alerts.ts";

const worker = self as unknown as ServiceWorkerGlobalScope;
/** The browser's language: a worker does not see the reader's choice on the page. */
const isTurkish = navigator.language.startsWith("tr");
const locale = isTurkish ? "tr-TR" : navigator.language;

function say(word: AlertWord, values: Record<string, string | number> = {}): string {
  const text: string = (isTurkish ? turkish : english)[word];
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}

const numbers = {
  price: (value: number) =>
    new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumSignificantDigits: 8 }).format(value),
  percent: (value: number) =>
    new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 2 }).format(value / 100),
};

/** The message that the service sends. */
interface Pushed {
  readonly type: string;
  readonly data: EventShown;
}

/** Shows notifications, and opens their symbol at a click. */
export function listenForPushes(): void {
  worker.addEventListener("push", (event) => {
    const pushed = event.data?.json() as Pushed | undefined;
    if (pushed?.type === "alert.crossed") event.waitUntil(notify(pushed.data));
  });
  worker.addEventListener("notificationclick", (event) => {
    event.notification.close();
    event.waitUntil(openSymbol(event.notification.data as { symbol: string; type: string }));
  });
}

/** The tag is the page's too: an open page replaces the notification instead of adding one. */
function notify(event: EventShown): Promise<void> {
  const { title, text } = noticeOf(event, say, numbers);
  const data = { symbol: event.ticker, type: event.type };
  return worker.registration.showNotification(title, {
    body: text,
    tag: `alert-${event.id}`,
    icon: "/icons/192.png",
    data,
  });
}

/** Focuses a window of the page with the symbol, or opens one. */
async function openSymbol({ symbol, type }: { symbol: string; type: string }): Promise<void> {
  const search = `?${new URLSearchParams({ symbol, type })}`;
  const [first] = await worker.clients.matchAll({ type: "window" });
  if (!first) {
    await worker.clients.openWindow(`/${search}`);
    return;
  }
  first.postMessage({ search });
  await first.focus();
}
