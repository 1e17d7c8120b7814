import { signal } from "@preact/signals";
import { say } from "./words.ts";

/** What the reader has to know of something that failed; null when there is nothing, or it was read. */
export const notice = signal<string | null>(null);

/** Shown over the panes until it is closed or another takes its place. */
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
