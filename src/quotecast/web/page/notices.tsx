import { signal } from "@preact/signals";
import { say } from "./words.ts";

/** Text about a failure; null without one or after the reader closed it. */
export const notice = signal<string | null>(null);

/** Shows the notice over the panes until the reader closes it or another replaces it. */
export function Notice() {
  const close = () => {
    notice.value = null;
  };
  if (notice.value === null) return null;
  return (
    <p class="notice floating" role="alert">
      {notice.value}
      <button type="button" class="icon" aria-label={say("close")} onClick={close}>
        ×
      </button>
    </p>
  );
}
