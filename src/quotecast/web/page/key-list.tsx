import { signal } from "@preact/signals";

import { useModal } from "./modal.ts";
import { say, type Word } from "./words.ts";

const isOpen = signal(false);
const KEYS: readonly (readonly [string, Word])[] = [
  ["Ctrl K, /", "keySearch"],
  ["Alt 1 … 9", "keyWorkspace"],
  ["m", "keyMaximise"],
  ["Ctrl Z, Ctrl Shift Z", "keyUndo"],
  ["↑ ↓ ← →", "keyRows"],
  ["Alt ↑, Alt ↓", "keyMoveRow"],
  ["↑ ↓ ← →, Shift, Alt", "keyPane"],
  ["← → + − End", "keyChart"],
  ["F2, Delete, Shift ← →", "keyTabs"],
  ["Esc", "keyEscape"],
  ["?", "keyThis"],
];

export function openKeyList(): void {
  isOpen.value = true;
}

/** The keys of the page. */
export function KeyList() {
  return (
    <dialog {...useModal(isOpen)} class="key-list" aria-label={say("keyList")}>
      <h2>{say("keyList")}</h2>
      <dl>
        {KEYS.map(([keys, word]) => (
          <div key={word}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{say(word)}</dd>
          </div>
        ))}
      </dl>
      <div class="row">
        <button
          type="button"
          onClick={() => {
            isOpen.value = false;
          }}
        >
          {say("close")}
        </button>
      </div>
    </dialog>
  );
}
