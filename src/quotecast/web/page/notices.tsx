import { Observable, useValue } from "./observable.ts";
import { useWords } from "./words.ts";

/** What the reader has to know of something that failed; null when there is nothing, or it was read. */
export const notice = new Observable<string | null>(null);

/** Shown over the panes until it is closed or another takes its place. */
export function Notice() {
  const say = useWords();
  const text = useValue(notice);
  if (text === null) return null;
  return (
    <p class="notice floating" role="alert">
      {text}
      <button type="button" class="icon" aria-label={say("close")} onClick={() => notice.set(null)}>
        ×
      </button>
    </p>
  );
}
