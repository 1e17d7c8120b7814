import { signal } from "@preact/signals";

import { parseSymbol } from "./query.ts";
import { select } from "./selection.ts";
import { feedStates } from "./service.ts";

/** Waits after a reconnection: while workers restart one by one, the first answer may be that of an old one. */
const LOOKED_AFTER_MS = [0, 10_000, 60_000];

/** Whether the service has a newer page than this window. */
export const hasNewVersion = signal(false);

/** Registers the service worker, where the page is served in a way that allows one (HTTPS or this machine). */
export function registerWorker(): void {
  const container = navigator.serviceWorker;
  if (!container) return;
  container.addEventListener("message", ({ data }) => {
    const { version, search } = data as { version?: string; search?: string };
    const instrument = search && parseSymbol(search);
    if (instrument) select(instrument);
    if (version && version !== document.documentElement.dataset.version) hasNewVersion.value = true;
  });
  const register = () => container.register("/sw.js", { updateViaCache: "none" }).catch(() => undefined);
  const look = () => void register().then((registration) => registration?.update().catch(() => undefined));
  void register();
  let before = feedStates.value.market;
  feedStates.subscribe(({ market }) => {
    // A service that comes back may have a new version, also while its data is stale.
    if (before === "connecting" && market !== "connecting") for (const wait of LOOKED_AFTER_MS) setTimeout(look, wait);
    before = market;
  });
}
